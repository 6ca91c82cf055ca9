"""Fits that use OpenMP inside scikit-learn; prints a digest of what each one learned."""

import hashlib
import inspect

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.manifold import TSNE
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import KNeighborsClassifier


def show(name, *arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    print(f"{name:12} {digest.hexdigest()}")


random = np.random.default_rng(3)
x = random.standard_normal((3000, 12))
kind = (x[:, 0] * x[:, 1] + 0.3 * x[:, 2] > 0).astype(int)
value = np.sin(x[:, 0]) + x[:, 3] ** 2

classifier = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(x, kind)
show("classifier", classifier.predict_proba(x))
regressor = HistGradientBoostingRegressor(max_iter=30, random_state=0).fit(x, value)
show("regressor", regressor.predict(x))
neighbours = KNeighborsClassifier(algorithm="brute").fit(x, kind)
show("neighbours", neighbours.predict(x), neighbours.kneighbors(x[:200])[1])
show("nearest", pairwise_distances_argmin(x[:1000], x[1000:]))
# Sums of partial results come in any order: groups agree, the last bits of centres need not.
means = KMeans(n_clusters=5, n_init=2, random_state=0).fit(x)
show("k-means", means.labels_)
rounds = "max_iter" if "max_iter" in inspect.signature(TSNE).parameters else "n_iter"  # until 1.4
tsne = TSNE(n_iter_without_progress=50, init="pca", random_state=0, **{rounds: 250})
show("t-SNE", tsne.fit_transform(x[:150]))
