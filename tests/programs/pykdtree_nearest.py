"""The nearest of many points by pykdtree, from the main thread and from four threads at once; prints a digest of each
result."""

import hashlib
import sys

import numpy as np
from callers import at_once
from pykdtree.kdtree import KDTree


def digest(seed, kind, dimensions):
    random = np.random.default_rng(seed)
    tree = KDTree(random.random((20000, dimensions)).astype(kind), leafsize=8)
    wanted = random.random((30000, dimensions)).astype(kind)
    found = hashlib.sha256()
    for options in ({"k": 1}, {"k": 5}, {"k": 3, "distance_upper_bound": 0.05, "eps": 0.1}):
        for array in tree.query(wanted, **options):
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def in_space(seed):
    return digest(seed, np.float64, 3)


if sys.argv[1:] == ["threads"]:
    for seed, result in enumerate(at_once(in_space)):
        print(seed, result)
else:
    for kind in (np.float32, np.float64):
        for dimensions in (2, 3, 6):
            print(kind.__name__, dimensions, digest(1, kind, dimensions))
