#!/usr/bin/env bash
# FFTW with threads of its own, which runs its loops in the pool instead: on Capstan no thread of
# its own is made.
# test: long
. "$(dirname "$0")/lib.sh"
needs libfftw3-dev /usr/include/fftw3.h
needs gcc gcc

transforms() {
    on "$input/transforms"
}

gcc -std=gnu11 -O2 -Wall -Wextra "$here/fftw_transforms.c" -o "$input/transforms" -lfftw3_threads \
    -lfftw3 -lm || exit 1
compare 'one, two and three dimensions, real and complex' transforms
for runtime in $runtimes; do
    grep -q '"pool":"FFTW","sections":[1-9][0-9]*,"largest":[0-9]*,"made":0}' "$work/1/$runtime/report" ||
        fail "$runtime: FFTW was not served: $(cat "$work/1/$runtime/report")"
done
finish
