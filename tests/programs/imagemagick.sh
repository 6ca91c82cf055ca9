#!/usr/bin/env bash
# Debian's ImageMagick: dynamic loops, single, critical; the same pixels and the same files.
. "$(dirname "$0")/lib.sh"
# By full name: what is first in PATH need not be Debian's.
needs imagemagick /usr/bin/convert
# ImageMagick takes only a few threads of those it may, by the height of the picture.
export OMP_NUM_THREADS=16

photograph() {
    /usr/bin/convert -seed 20 -size 1400x1000 plasma:tan-navy -attenuate 0.3 +noise Gaussian \
        -strip "$input/photograph.ppm" || exit 1
}

picture() {
    on /usr/bin/convert "$input/photograph.ppm" "$@" -strip picture.ppm &&
        on /usr/bin/identify -format '%wx%h %#\n' picture.ppm
}

photograph
compare 'blur, resize, unsharp' picture -blur 0x3 -resize 70% -unsharp 0x2+1+0.02
compare 'rotate, shear, distort' picture -rotate 7 -shear 5x3 -distort Barrel '0.1 0.02 0 0.9'
compare 'median, morphology, edges' picture -resize 50% -statistic Median 5x5 \
    -morphology Dilate Octagon:2 -edge 2
compare 'colours, dither, normalise' picture -modulate 110,140,95 -normalize -sigmoidal-contrast 6x50% \
    -colorspace Lab -colorspace sRGB -dither FloydSteinberg -colors 64
compare 'sharpen, despeckle, wavelets' picture -resize 1024x1024! -adaptive-sharpen 0x2 -despeckle \
    -wavelet-denoise 5%
finish
