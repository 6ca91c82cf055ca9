"""Nearest neighbours by several indices; prints a digest of what each one found."""

import hashlib

import faiss
import numpy as np

random = np.random.default_rng(9)
base = random.standard_normal((6000, 32)).astype(np.float32)
queries = random.standard_normal((300, 32)).astype(np.float32)


def show(name, index, train=True):
    if train:
        index.train(base)
    index.add(base)
    distances, found = index.search(queries, 10)
    digests = (hashlib.sha256(part.tobytes()).hexdigest()[:32] for part in (distances, found))
    print(f"{name:10}", *digests)


show("flat", faiss.IndexFlatL2(32))
show("product", faiss.IndexFlatIP(32))
flat = faiss.IndexIVFFlat(faiss.IndexFlatL2(32), 32, 64)
flat.nprobe = 8
show("clusters", flat)
show("codes", faiss.IndexPQ(32, 8, 8))
coded = faiss.IndexIVFPQ(faiss.IndexFlatL2(32), 32, 32, 8, 8)
coded.nprobe = 8
show("both", coded)
# Threads insert into the graph in any order, but it finds most neighbours whatever the order.
graph = faiss.IndexHNSWFlat(32, 16)
graph.hnsw.efConstruction = 40
graph.hnsw.efSearch = 200
graph.add(base)
exact = faiss.IndexFlatL2(32)
exact.add(base)
truth = exact.search(queries, 10)[1]
found = graph.search(queries, 10)[1]
right = np.mean([len(set(a) & set(b)) for a, b in zip(truth, found)]) / 10
print("graph      finds", "most" if right > 0.95 else f"only {right}")
clusters = faiss.Kmeans(32, 20, niter=10, seed=4)
clusters.train(base)
print("k-means   ", np.allclose(np.sort(clusters.obj)[::-1], clusters.obj, rtol=1e-6))
