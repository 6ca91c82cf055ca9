"""Seven libraries in one interpreter: numpy, scipy, scikit-learn, xgboost, LightGBM, faiss, and MKL by ctypes. Prints a
digest of what each one computed.

wheels_together.py each                    one after the other, twice
wheels_together.py callers                 each in a thread of Python of its own, all at once
wheels_together.py nested                  LightGBM's fits by joblib's threads
wheels_together.py processes [here]        in children of every kind, before and after each library; or without children
wheels_together.py pool                    fails if Capstan's process has more threads than a pool and OpenBLAS's
"""

import functools
import multiprocessing
import os
import sys
import time

if "import" in sys.argv:
    import capstan  # noqa: F401

from callers import at_once
from joblib import Parallel, delayed, parallel_config
from seven_libraries import LIBRARIES, use, use_lightgbm
from threadpoolctl import threadpool_info


def each():
    for name in 2 * LIBRARIES:
        print(use(name))


def callers():
    for results in at_once(lambda name: {use(name) for _ in range(4)}, LIBRARIES):
        print(*results)


def nested():
    for result in Parallel(3, backend="threading")(delayed(use_lightgbm)(seed) for seed in range(6)):
        print(result)


def by_pool(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map(use, LIBRARIES, chunksize=1)


def by_joblib(backend):
    # Left alone, loky gives OpenBLAS one thread, whose sums have other last bits.
    threads = {"inner_max_num_threads": int(os.environ["OMP_NUM_THREADS"])} if backend == "loky" else {}
    with parallel_config(backend=backend, **threads):
        return Parallel(2)(delayed(use)(name) for name in LIBRARIES)


def here():
    return [use(name) for name in LIBRARIES]


KINDS = {
    "fork": functools.partial(by_pool, "fork"),
    "joblib's multiprocessing": functools.partial(by_joblib, "multiprocessing"),
    "spawn": functools.partial(by_pool, "spawn"),
    "loky": functools.partial(by_joblib, "loky"),
}


def processes():
    """Children that are forked come before and after each library, the others at both ends."""
    work = dict.fromkeys(KINDS, here) if "here" in sys.argv else KINDS
    orders = ["nothing", *LIBRARIES]
    for place, before in enumerate(orders):
        print("after", before if place == 0 else use(before))
        for kind in work:
            if kind in ("spawn", "loky") and 0 < place < len(orders) - 1:
                continue
            print(kind, *work[kind](), sep="\n")
            sys.stdout.flush()


def pool():
    """One pool and the interpreter; each OpenBLAS with threads of its own made them as it was loaded. GHC's two beside the pool
    are there on the substrate rts."""
    here()
    time.sleep(0.2)
    threads = len(os.listdir("/proc/self/task"))
    copies = sum(info.get("threading_layer") == "pthreads" for info in threadpool_info())
    expected = 1 + (int(os.environ["OMP_NUM_THREADS"]) - 1) * (1 + copies)
    substrate = os.environ.get("CAPSTAN_SUBSTRATE")
    if substrate and threads != expected + 2 * (substrate == "rts"):
        sys.exit(f"{threads} threads, and {copies} copies of OpenBLAS with threads")


if __name__ == "__main__":
    {f.__name__: f for f in (each, callers, nested, processes, pool)}[sys.argv[1]]()
