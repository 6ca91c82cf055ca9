#!/usr/bin/env bash
# FFLAS-FFPACK, whose headers clang compiles: exact algebra by tasks that begin tasks and wait for them.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"
needs fflas-ffpack /usr/include/fflas-ffpack/fflas-ffpack.h
needs libgmp-dev "/usr/lib/$(uname -m)-linux-gnu/libgmp.so"
needs liblapack-dev "/usr/lib/$(uname -m)-linux-gnu/liblapack.so"
# A low threshold makes many tasks of small matrices.
clang++ -std=c++17 -O2 -w -fopenmp -D__FFLASFFPACK_PLUQ_THRESHOLD=16 "$here/fflas_tasks.cc" \
    -lgivaro -lgmp -llapack -lblas -o "$input/tasks" || exit 1

algebra() {
    on "$input/tasks"
}

compare 'products, factors, determinants' algebra
OMP_NUM_THREADS=5 compare 'products, factors, determinants with five threads' algebra
finish
