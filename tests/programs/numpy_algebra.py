"""Dense algebra that numpy hands to OpenBLAS; prints a digest of each result's bytes."""

import hashlib
import sys

import numpy as np


def show(name, *arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    print(f"{name:12} {digest.hexdigest()}")


with open("/proc/self/maps") as maps:
    if "openblas-openmp" not in maps.read():
        sys.exit("numpy does not use the OpenMP variant of OpenBLAS")

random = np.random.default_rng(7)
a = random.standard_normal((600, 600))
b = random.standard_normal((600, 300))
positive = a @ a.T + 600 * np.eye(600)
show("product", a @ b)
show("single", a.astype(np.float32) @ b.astype(np.float32))
show("complex", (a + 1j * a.T) @ b)
show("vector", a @ b[:, 0])
show("solve", np.linalg.solve(a, b))
show("cholesky", np.linalg.cholesky(positive))
show("qr", *np.linalg.qr(b))
show("symmetric", *np.linalg.eigh(positive))
show("eigenvalues", np.linalg.eigvals(a[:200, :200]))
show("svd", *np.linalg.svd(b, full_matrices=False))
# Thousands of regions, each with little work.
c = a[:120, :120]
for _ in range(1000):
    c = c @ a[:120, :120]
    c /= np.abs(c).max()
show("powers", c)
