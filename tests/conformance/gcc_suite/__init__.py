"""GCC's libgomp testsuite without DejaGnu: the parts of libgomp_testsuite.py, an idea in each file."""

from __future__ import annotations

LIBRARY = "libgomp.so.1"


class SetupError(Exception):
    """Something the run needs (tarball, compiler, library) is not there."""
