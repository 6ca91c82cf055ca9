#!/usr/bin/env bash
# pykdtree, compiled from its source in PyPI: the nearest points by dynamic loops, in a module that an interpreter loads
# late; four threads of Python are masters at once.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"
# shellcheck disable=SC2034 # used by needs_wheel
wheel_options=(--no-binary pykdtree)
LIBRARY_PATH=$(dirname "$(readlink -f "$(libomp)")") CC=clang USE_OMP=omp needs_wheel pykdtree numpy pykdtree

nearest() {
    on "$python" "$here/pykdtree_nearest.py" "$@"
}

compare 'nearest points' nearest
compare 'nearest points by four threads at once' nearest threads
OMP_NUM_THREADS=5 compare 'nearest points with five threads' nearest
finish
