#!/usr/bin/env bash
# FFTW with OpenMP: thousands of small regions; there and back again.
# test: long
. "$(dirname "$0")/lib.sh"
needs libfftw3-dev /usr/include/fftw3.h
needs gcc gcc

transforms() {
    on "$input/transforms"
}

gcc -std=gnu11 -O2 -Wall -Wextra "$here/fftw_transforms.c" -o "$input/transforms" -lfftw3_omp \
    -lfftw3 -lm || exit 1
compare 'one, two and three dimensions, real and complex' transforms
OMP_NUM_THREADS=7 compare 'with seven threads' transforms
finish
