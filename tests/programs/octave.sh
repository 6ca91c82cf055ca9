#!/usr/bin/env bash
# GNU Octave on OpenBLAS built with OpenMP.
# test: long
. "$(dirname "$0")/lib.sh"
needs octave octave-cli
needs libopenblas0-openmp "$(openblas_openmp)/libblas.so.3"

algebra() {
    LD_LIBRARY_PATH=$(openblas_openmp) on octave-cli --norc --no-history "$here/octave_algebra.m"
}

compare 'product, solve, eigenvalues, SVD, exponential' algebra
finish
