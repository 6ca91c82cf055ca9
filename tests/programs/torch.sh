#!/usr/bin/env bash
# Debian's PyTorch: products, a convolution and a fit, from one thread of Python and from four.
# test: long
. "$(dirname "$0")/lib.sh"
needs python3-torch /usr/lib/python3/dist-packages/torch
needs libopenblas0-openmp "$(openblas_openmp)/libblas.so.3"

train() {
    LD_LIBRARY_PATH=$(openblas_openmp) "$1" /usr/bin/python3 "$here/torch_fit.py"
}

compare 'products, a convolution, a fit (by the command)' train on
compare 'the same (by the loader)' train by_path
finish
