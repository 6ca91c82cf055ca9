#!/usr/bin/env bash
# libimagequant: a palette for a picture, by loops whose threads have a histogram each and meet in the nearest colours.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"

build() {
    local source
    for source in pam mediancut blur mempool kmeans nearest libimagequant; do
        clang -std=c99 -O2 -w -DNDEBUG -fopenmp -c "$source.c" || return
    done
    ar rcs "$built/libimagequant.a" ./*.o && cp libimagequant.h "$built"
}

compiled libimagequant libimagequant.h libimagequant.a build
clang -std=gnu11 -O2 -Wall -Wextra -fopenmp -I"$built" "$here/libimagequant_palette.c" "$built/libimagequant.a" -lm \
    -o "$input/palette" || exit 1

palette() {
    on "$input/palette" "$@"
}

compare '256 colours' palette 256 1
compare '16 colours, dithered' palette 16 4
OMP_NUM_THREADS=5 compare '64 colours with five threads' palette 64 3
finish
