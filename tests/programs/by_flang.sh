#!/usr/bin/env bash
# A program of Fortran, compiled by flang: the same on LLVM's libomp and on Capstan.
# test: long
. "$(dirname "$0")/lib.sh"
oracle=libomp
flang=$(command -v flang-new-19 || command -v flang-new-16) || {
    needs flang-16 flang-new-16
    flang='flang-new-16'
}
needs libomp-14-dev "$(libomp)"
mkdir "$input/link"
ln -s "$(libomp)" "$input/link/libomp.so"

# Up to 16 it must be told that programs are wanted.
"$flang" -O2 -fopenmp -L"$input/link" "$here/flang_jacobi.f90" -o "$input/jacobi" 2>"$work/flang" ||
    "$flang" -O2 -fopenmp -flang-experimental-exec -L"$input/link" "$here/flang_jacobi.f90" -o "$input/jacobi" || exit 1

solve() {
    on "$input/jacobi"
}

compare 'Jacobi' solve
OMP_NUM_THREADS=5 compare 'Jacobi with five threads' solve
finish
