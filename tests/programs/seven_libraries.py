"""Seven libraries in one interpreter, each with work that it shares among threads."""

import ctypes
import functools
import glob
import hashlib
import os
import sys

import faiss
import lightgbm
import numpy as np
import scipy.linalg
import xgboost
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor

THREADS = int(os.environ["OMP_NUM_THREADS"])
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((1000, 12))
Y = np.sin(X[:, 0]) + X[:, 3] ** 2
MATRIX = RANDOM.standard_normal((250, 250))


def digest(*parts):
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes())
    return found.hexdigest()[:32]


def use_numpy():
    return digest(MATRIX @ MATRIX.T, np.linalg.solve(MATRIX, MATRIX[:, 0]))


def use_scipy():
    return digest(*scipy.linalg.lu_factor(MATRIX), scipy.linalg.blas.dsyrk(1.0, MATRIX))


def use_sklearn():
    trees = HistGradientBoostingRegressor(max_iter=10, random_state=0).fit(X, Y)
    return digest(trees.predict(X), KMeans(4, n_init=1, random_state=0).fit(X).labels_)


def use_xgboost():
    settings = {"max_depth": 5, "subsample": 0.8, "seed": 1, "nthread": THREADS}
    data = xgboost.DMatrix(X, label=Y, nthread=THREADS)
    model = xgboost.train(settings, data, num_boost_round=8)
    return digest("".join(model.get_dump(with_stats=True)), model.predict(data))


def use_lightgbm(seed=1):
    settings = {"bagging_fraction": 0.7, "bagging_freq": 1, "seed": seed, "deterministic": True,
                "force_col_wise": True, "num_threads": THREADS, "verbose": -1}
    model = lightgbm.train(settings, lightgbm.Dataset(X, label=Y), num_boost_round=10)
    return digest(model.model_to_string(), model.predict(X))


def use_faiss():
    points = X.astype(np.float32)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(12), 12, 16)
    index.nprobe = 4
    index.train(points)
    index.add(points)
    exact = faiss.IndexFlatL2(12)
    exact.add(points)
    return digest(*index.search(points[:300], 8), *exact.search(points[:300], 8))


@functools.cache
def mkl():
    return ctypes.CDLL(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so.*"))[0])


def use_mkl():
    row_major, plain, size = 101, 111, len(MATRIX)
    pointer = np.ctypeslib.ndpointer(np.float64)
    product = np.zeros_like(MATRIX)
    dgemm = mkl().cblas_dgemm
    dgemm.argtypes = [ctypes.c_int] * 6 + [ctypes.c_double, pointer, ctypes.c_int, pointer, ctypes.c_int,
                                           ctypes.c_double, pointer, ctypes.c_int]
    dgemm(row_major, plain, plain, size, size, size, 1.0, MATRIX, size, MATRIX, size, 0.0, product, size)
    assert np.allclose(product, MATRIX @ MATRIX)
    return digest(product)


WORK = {name[4:]: work for name, work in list(globals().items()) if name.startswith("use_")}
LIBRARIES = list(WORK)


def use(name):
    """The library's name, and a digest of what it computed."""
    return f"{name} {WORK[name]()}"
