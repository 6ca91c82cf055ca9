#!/usr/bin/env bash
# Debian's scikit-learn, on the system's libgomp and on OpenBLAS with OpenMP: one runtime for both, by
# the command and by the loader.
# test: long
. "$(dirname "$0")/lib.sh"
needs python3-sklearn /usr/lib/python3/dist-packages/sklearn
needs libopenblas0-openmp "$(openblas_openmp)/libblas.so.3"

learn() {
    LD_LIBRARY_PATH=$(openblas_openmp) "$1" /usr/bin/python3 "$here/scikit_learn_fit.py"
}

compare 'boosting, k-means, neighbours, t-SNE: predictions (by the command)' learn on
compare 'the same (by the loader)' learn by_path
finish
