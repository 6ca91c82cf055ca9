"""Products, clusters and trees; then in processes of every kind that Python starts. Prints what came out."""

import hashlib
import sys

if "import" in sys.argv:
    import capstan  # noqa: F401

import multiprocessing

import numpy
import scipy.linalg
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor

NUMBERS = numpy.random.default_rng(1)
POINTS = NUMBERS.normal(size=(2000, 6))


def algebra():
    """Bits of what OpenBLAS computes, numpy's copy and scipy's."""
    matrix = NUMBERS.normal(size=(400, 400))
    digest = hashlib.sha256((matrix @ matrix).tobytes())
    digest.update(scipy.linalg.solve(matrix, matrix[:, 0]).tobytes())
    return digest.hexdigest()


def inertia(clusters):
    return round(float(KMeans(clusters, n_init=1, random_state=0).fit(POINTS).inertia_), 6)


def score():
    wanted = POINTS[:, 0] + POINTS[:, 1] ** 2
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(POINTS, wanted)
    return round(float(model.score(POINTS, wanted)), 9)


def in_processes():
    """The stock wheels' runtime hangs in a child that was forked after a region."""
    kinds = (2, 3, 4)
    for backend in ("loky", "multiprocessing"):
        print(backend, Parallel(2, backend=backend)(delayed(inertia)(k) for k in kinds))
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(inertia, kinds))


if __name__ == "__main__":
    print(algebra(), inertia(3), score())
    if "processes" in sys.argv:
        in_processes()
    print(inertia(3))
