#!/usr/bin/env bash
# GraphicsMagick: loops over the rows of a picture with critical sections, atomic counters and flushes; exact pixels.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"

build() {
    local part without=()
    for part in x perl magick-plus-plus bzlib dps fpx gs jbig jp2 jpeg lcms2 lzma png tiff ttf webp wmf xml zlib zstd; do
        without+=("--without-$part")
    done
    ./configure CC=clang CFLAGS='-O2 -w' --disable-shared --with-quantum-depth=16 "${without[@]}" &&
        nice make -j"$(nproc)" utilities/gm && cp utilities/gm "$built/gm"
}

compiled graphicsmagick gm build
"$built/gm" convert -size 900x600 plasma:tan-navy "$input/photograph.ppm" || exit 1

picture() {
    on "$built/gm" convert "$input/photograph.ppm" "$@" picture.ppm && cksum <picture.ppm
}

compare 'blur, resize, unsharp' picture -blur 0x3 -resize 70% -unsharp 0x2+1+0.02
compare 'rotate, shear, swirl' picture -rotate 7 -shear 5x3 -swirl 40
compare 'median, edges, charcoal' picture -resize 50% -median 2 -edge 2 -charcoal 1
compare 'colours, dither, normalise' picture -modulate 110,140,95 -normalize -equalize -dither -colors 64
OMP_NUM_THREADS=5 compare 'despeckle, wave, enhance with five threads' picture -despeckle -wave 5x60 -enhance
finish
