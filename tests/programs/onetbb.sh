#!/usr/bin/env bash
# oneTBB's wheel beside OpenMP in one program: the same results, and on Capstan oneTBB has threads by permit, none
# of its own where a region has all processors.
# test: long
. "$(dirname "$0")/lib.sh"
needs_wheel tbb-devel threadpoolctl
needs g++ g++
folder_of_wheel=$cache/tbb-devel
# A number that the user asks for is kept to; here the runtime is to choose.
unset OMP_NUM_THREADS
export LD_LIBRARY_PATH=$folder_of_wheel/lib

g++ -std=gnu++17 -O2 -Wall -fopenmp -I "$folder_of_wheel/include" "$here/onetbb_beside.cc" -o "$input/beside" \
    -L "$folder_of_wheel/lib" -ltbb -ldl || exit 1
compare 'loops of oneTBB and regions, beside and within each other' on "$input/beside"
finish
