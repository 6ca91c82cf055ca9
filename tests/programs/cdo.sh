#!/usr/bin/env bash
# Climate Data Operators: interpolation, percentiles and statistics; files byte for byte.
# test: long
. "$(dirname "$0")/lib.sh"
needs cdo cdo

# --history is off and so are times: the files hold data only.
climate() {
    on cdo -s -P "$OMP_NUM_THREADS" --no_history "$@"
}

grids() {
    cdo -s --no_history -f nc -setname,tas -settaxis,2000-01-01,12:00:00,1day -addc,280 \
        -mulc,20 -duplicate,6 -sin -topo,r360x180 "$input/daily.nc" &&
        cdo -s --no_history -f nc -topo,r180x90 "$input/topo.nc"
}

grids >"$work/prepared" 2>&1 || {
    cat "$work/prepared"
    fail 'the input could not be made'
    finish
}
compare 'bilinear interpolation' climate -f srv remapbil,r144x72 "$input/daily.nc" out.srv
compare 'conservative interpolation' climate -f srv remapcon,r90x45 "$input/daily.nc" out.srv
compare 'nearest neighbours' climate -f srv remapnn,n16 "$input/daily.nc" out.srv
compare 'distance weights' climate -f srv remapdis,r72x36 "$input/topo.nc" out.srv
compare 'smoothing' climate -f srv smooth,radius=5deg "$input/topo.nc" out.srv
compare 'time and zonal statistics' climate -f srv zonmean -timpctl,75 "$input/daily.nc" \
    -timmin "$input/daily.nc" -timmax "$input/daily.nc" out.srv
compare 'principal components' climate -f srv eof,3 "$input/daily.nc" values.srv vectors.srv
finish
