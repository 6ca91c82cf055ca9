#!/usr/bin/env bash
# The project's own solver in Fortran, compiled by flang: the same on LLVM's libomp and on Capstan.
# test: long
. "$(dirname "$0")/flang.sh"
flang -O2 "$here/flang_jacobi.f90" -o "$input/jacobi" || exit 1

solve() {
    on "$input/jacobi"
}

compare 'Jacobi' solve
OMP_NUM_THREADS=5 compare 'Jacobi with five threads' solve
finish
