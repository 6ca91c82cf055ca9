"""One pool of threads for the OpenMP code of a Python program.

Import it before anything that brings OpenMP, OpenBLAS or oneTBB::

    import capstan
    import numpy, sklearn

or start the program with ``python -m capstan run script.py``, which serves child processes too. Libraries
that come later then use Capstan's threads in place of the runtimes in their wheels. Settings are variables
of the environment, such as ``OMP_NUM_THREADS``, ``CAPSTAN_ADOPT`` and ``CAPSTAN_SHARE``; ``CAPSTAN_REPORT=fd:2``
writes at the end what was done.
"""

import ctypes
import importlib.machinery
import os
import re
import warnings

__all__ = ["adopt", "library_folder", "libraries"]

_RUNTIME = "libgomp.so.1"
# What is called like other runtimes and leads to the first; at last, what notices libraries with pools.
_NAMES = ["libcapstan-llvm.so", "libcapstan-intel.so", "libcapstan-tcm.so"]
_NOTICE = "libcapstan-adopt.so"
# Also as packers of wheels rename it: libgomp-a34b3233.so.1.0.0.
_OTHERS = re.compile(r"/lib(?:gomp|omp|iomp5)\b[^/]*\.so[^/]*$")

library_folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
"""Where the shared libraries lie."""


def libraries(preload=False):
    """Paths of the shared libraries, the runtime first; with what is to be preloaded alone, if asked."""
    names = [_RUNTIME, *_NAMES] + ([_NOTICE] if preload else [])
    return [os.path.join(library_folder, name) for name in names]


def adopt():
    """Looks at the libraries that have been loaded since, and returns how many with pools of their own
    use Capstan's threads. It is called after each extension module that is imported; a program that loads
    a library by other means, such as ctypes, calls it itself. Costs microseconds. Thread-safe."""
    return _runtime.capstan_adopt(None)


def _loaded():
    """Paths of other OpenMP runtimes in the process."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line.split(None, 5)[-1].rstrip("\n") for line in maps if "/" in line}
    return sorted(path for path in paths if _OTHERS.search(path) and not path.startswith(library_folder + "/"))


def _serve():
    """Loads the runtime for all that comes later. Where it was preloaded, it is that one."""
    others = [] if library_folder in os.environ.get("LD_PRELOAD", "") else _loaded()
    if others:
        warnings.warn(f"an OpenMP runtime is in the process already, and keeps its threads: {others[0]}. "
                      "Import capstan first, or start the program with python -m capstan run",
                      RuntimeWarning, stacklevel=3)
    os.environ.setdefault("CAPSTAN_ADOPT", "all")
    loaded = [ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) for path in libraries()]
    loaded[0].capstan_adopt.argtypes = [ctypes.c_void_p]
    loaded[0].capstan_adopt.restype = ctypes.c_uint
    return loaded[0]


_runtime = _serve()
_create = importlib.machinery.ExtensionFileLoader.create_module


def _create_and_adopt(self, spec):
    """An extension module brings the libraries that it needs: they are looked at once it is loaded."""
    module = _create(self, spec)
    adopt()
    return module


importlib.machinery.ExtensionFileLoader.create_module = _create_and_adopt
