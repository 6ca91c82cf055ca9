#!/usr/bin/env bash
# MUMPS, compiled by flang from its source: sparse linear equations. Its regions have barriers, critical sections and
# atomic updates; in one of them each thread begins with subtrees of its own.
# test: long
# test: timeout 3600
. "$(dirname "$0")/flang.sh"
needs liblapack-dev "/usr/lib/$(uname -m)-linux-gnu/liblapack.so"

build() {
    cat >Makefile.inc <<'SETTINGS'
CC = clang
FC = flang-new-19
FL = flang-new-19
OPTF = -O2 -fopenmp
OPTC = -O2 -w -fopenmp
AR = ar r # the space
RANLIB = ranlib
RM = rm -f
OUTC = -o # the space
OUTF = -o # the space
LIBEXT = .a
CDEFS = -DAdd_
LPORDDIR = $(topdir)/PORD/lib/
IPORD = -I$(topdir)/PORD/include/
ORDERINGSF = -Dpord
ORDERINGSC = -Dpord
IORDERINGSC = $(IPORD)
INCS = -I$(topdir)/libseq
LIBSEQNEEDED = libseqneeded
SETTINGS
    nice make prerequisites && nice make -C src -j"$(nproc)" d &&
        cp libseq/mpif.h include/dmumps_struc.h include/dmumps_root.h lib/*.a "$built"
}

compiled mumps dmumps_struc.h libdmumps.a libmpiseq.a build
flang -O2 -I"$built" "$here/flang_mumps.f90" -L"$built" -ldmumps -lmumps_common -lpord -lmpiseq -llapack -lblas \
    -o "$input/mumps" || exit 1

solve() {
    on "$input/mumps" "$@"
}

compare 'unsymmetric' solve 18 0 1 0
compare 'unsymmetric, without subtrees' solve 18 0 0 0
compare 'positive definite' solve 20 1 1 0
compare 'positive definite, low rank' solve 20 1 1 1
OMP_NUM_THREADS=5 compare 'unsymmetric, low rank, five threads' solve 16 0 1 1
finish
