"""What threadpoolctl sees of the runtime in a process of scikit-learn, and whether it obeys."""

import os
import sys

from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits
import numpy as np

import sklearn.utils._openmp_helpers as helpers


def runtimes():
    return [info for info in threadpool_info() if info["user_api"] == "openmp"]


if sys.argv[1] in ("rts", "pthread"):
    capstan = [info for info in runtimes() if info["filepath"].endswith("/libgomp.so.1.0.0")]
    if len(capstan) != 1:
        sys.exit(f"Capstan is not among {[info['filepath'] for info in runtimes()]}")
assert all(info["prefix"] == "libgomp" for info in runtimes() if sys.argv[1] != "libomp")

threads = int(os.environ["OMP_NUM_THREADS"])
print("threads", helpers._openmp_effective_n_threads() == threads)
with threadpool_limits(limits=1, user_api="openmp"):
    print("limited to 1:", {info["num_threads"] for info in runtimes()})
    x = np.random.default_rng(1).standard_normal((4000, 8))
    print(KMeans(n_clusters=4, n_init=1, random_state=0).fit(x).labels_[:20])
with threadpool_limits(limits=3, user_api="openmp"):
    print("limited to 3:", {info["num_threads"] for info in runtimes()})
    print(KMeans(n_clusters=4, n_init=1, random_state=0).fit(x).labels_[:20])
print("afterwards", all(info["num_threads"] == threads for info in runtimes()))
