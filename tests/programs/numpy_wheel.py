"""Dense algebra of numpy's and scipy's wheels: digests of each result's bytes.

numpy_wheel.py digests N...   with N threads each
numpy_wheel.py many N M       one product with N threads, then all with M
numpy_wheel.py callers N      from four threads of Python at once
numpy_wheel.py forks N        in children, and in the parent after them
numpy_wheel.py pool N         how many threads the process has; only Capstan's number is judged
"""

import hashlib
import os
import sys
import time

import numpy as np
import scipy.linalg
from callers import at_once
from threadpoolctl import threadpool_info, threadpool_limits


def results(seed):
    random = np.random.default_rng(seed)
    a = random.standard_normal((260, 260))
    b = random.standard_normal((260, 200))
    positive = a @ a.T + 260 * np.eye(260)
    yield a @ b
    yield a.astype(np.float32) @ b.astype(np.float32)
    yield (a + 1j * a.T) @ b
    yield a @ b[:, 0]
    yield np.linalg.solve(a, b)
    yield np.linalg.cholesky(positive)
    yield from np.linalg.qr(b)
    yield from np.linalg.svd(b[:, :120], full_matrices=False)
    yield from scipy.linalg.lu_factor(a)
    yield scipy.linalg.blas.dsyrk(1.0, b)
    yield scipy.linalg.solve_triangular(np.tril(positive), b, lower=True)
    c = a[:120, :120]
    for _ in range(30):
        c = c @ a[:120, :120]
        c /= np.abs(c).max()
    yield c


def digest(seed):
    found = hashlib.sha256()
    for array in results(seed):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def blas_threads():
    return sorted(info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas")


def digests(counts):
    for count in counts:
        with threadpool_limits(limits=count, user_api="blas"):
            print(count, blas_threads(), digest(count))
        print("afterwards", blas_threads())


def many(counts):
    a = np.random.default_rng(0).standard_normal((200, 200))
    a @ a
    with threadpool_limits(limits=counts[0], user_api="blas"):
        print(blas_threads(), hashlib.sha256((a @ a).tobytes()).hexdigest())
    digests(counts[1:])


def callers(_):
    for seed, found in enumerate(at_once(lambda seed: {digest(seed) for _ in range(2)})):
        print(seed, *found)


def in_child(seed):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        if seed % 2:
            in_child(seed - 1)
        print("child", seed, digest(seed))
        sys.stdout.flush()
        os._exit(0)
    print("ended with", os.waitpid(child, 0)[1])


def forks(_):
    in_child(1)
    print(digest(2))
    in_child(3)
    print(digest(4))
    in_child(4)
    print(digest(5))


def pool(counts):
    # The interpreter's, the pool's, and those that each OpenBLAS made as it was loaded.
    digest(0)
    time.sleep(0.2)
    threads = len(os.listdir("/proc/self/task"))
    copies = len(blas_threads())
    expected = 1 + (counts[0] - 1) * (1 + copies)
    if os.environ.get("CAPSTAN_SUBSTRATE") == "pthread" and threads != expected:
        sys.exit(f"{threads} threads in place of {expected}")


globals()[sys.argv[1]]([int(count) for count in sys.argv[2:]])
