#!/usr/bin/env bash
# OpenBLAS with OpenMP: thousands of regions. The BLAS alone, for one processor type.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"

build() {
    nice make -j"$(nproc)" CC=clang HOSTCC=gcc USE_OPENMP=1 TARGET=HASWELL NO_LAPACK=1 NOFORTRAN=1 NO_STATIC=1 \
        NUM_THREADS=8 libs shared && cp "$(readlink -f libopenblas.so.0)" "$built/libopenblas.so.0"
}

compiled openblas libopenblas.so.0 build

products() {
    on "$input/products" "$built/libopenblas.so.0"
}

gcc -std=gnu11 -O2 -Wall -Wextra "$here/openblas_products.c" -o "$input/products" -ldl -lm || exit 1
compare 'products of matrices and vectors' products
OMP_NUM_THREADS=4 compare 'products with four threads' products
finish
