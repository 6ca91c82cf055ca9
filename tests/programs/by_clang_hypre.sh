#!/usr/bin/env bash
# hypre: its own test drivers, which solve sparse systems by multigrid: hundreds of loops, regions whose threads share the
# work by their numbers and wait at barriers, atomic updates.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"

build() {
    cd src && ./configure CC=clang CFLAGS='-O1 -w -fopenmp' LDFLAGS=-fopenmp --with-openmp --without-MPI --without-fei --disable-fortran &&
        nice make -j"$(nproc)" && nice make -C test ij struct && cp test/ij test/struct "$built"
}

compiled hypre ij struct build

# Sums are added up in any order; the lines about time and memory differ always.
solve() {
    local program=$1
    shift
    on "$built/$program" "$@" >output || return
    grep -v -i -E 'time|mflops|memory|MPI|threads|seconds' output >solution.close
    rm output
}

tolerance=1e-4
compare 'AMG with conjugate gradients' solve ij -n 30 30 30 -solver 1
compare 'AMG, aggressive and hybrid' solve ij -27pt -n 20 20 20 -solver 1 -agg_nl 1 -rlx 6
compare 'GMRES with AMG' solve ij -difconv -a 5 5 5 -n 20 20 20 -solver 3
compare 'structured multigrid' solve struct -n 40 40 40 -solver 1
OMP_NUM_THREADS=5 compare 'AMG with five threads' solve ij -n 20 20 20 -solver 1
finish
