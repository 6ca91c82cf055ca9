#!/usr/bin/env bash
# numpy on OpenBLAS built with OpenMP: the same bits of every matrix.
. "$(dirname "$0")/lib.sh"
needs python3-numpy /usr/lib/python3/dist-packages/numpy
needs libopenblas0-openmp "$(openblas_openmp)/libblas.so.3"

algebra() {
    LD_LIBRARY_PATH=$(openblas_openmp) on /usr/bin/python3 "$here/numpy_algebra.py"
}

compare 'product, solve, Cholesky, QR, eigenvalues, SVD' algebra
finish
