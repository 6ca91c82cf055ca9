#!/usr/bin/env bash
# G'MIC: long chains of image filters, expressions evaluated in parallel, critical sections.
# test: long
. "$(dirname "$0")/lib.sh"
needs gmic gmic

filters() {
    on gmic -v - "$@" -output result.cimg >/dev/null
}

plasma=('400,300,1,3' -fill "'128+100*sin(x/17+c)*cos(y/13)+20*sin(x*y/900)'")
compare 'blur, sharpen, resize' filters "${plasma[@]}" -blur 3 -sharpen 80 -resize '150%,150%,1,3,5'
compare 'expressions' filters "${plasma[@]}" \
    -resize 800,600 -fill "'i+20*cos(i/9)+j(1,1)-j(-1,-1)+(x%7)*(y%5)'" -normalize 0,255
compare 'smoothing along structures' filters "${plasma[@]}" -smooth 40,0.5,0.9 -cut 0,255
compare 'median, dilation, bilateral' filters "${plasma[@]}" -median 3 -dilate 5 -bilateral 5,20
compare 'patches, distances, transforms' filters "${plasma[@]}" -resize 50%,50% -denoise 10,10,3,5 \
    -equalize 64 -rotate 17 -warp_perspective 0.3,0.2,0
finish
