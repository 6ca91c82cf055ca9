#!/usr/bin/env bash
# MUSCLE: alignments by a hidden Markov model, in dynamic loops over pairs whose results a critical section takes and
# whose progress locks guard.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"

build() {
    echo '"release"' >src/gitver.txt
    nice make -C src -j"$(nproc)" CXX=clang++ CXXFLAGS='-O2 -w -fopenmp' OS=built && cp src/built/muscle "$built/muscle"
}

compiled muscle muscle build

align() {
    # Its progress tells the time and the memory.
    on "$built/muscle" "$@" -threads "$OMP_NUM_THREADS" -output aligned 2>/dev/null >/dev/null
}

awk -v alphabet=ACDEFGHIKLMNPQRSTVWY -v count=30 -v letters=120 -v kept=92 -v lost=0.5 -f "$here/sequences.awk" \
    >"$input/proteins.fa"
awk -v alphabet=ACGT -v count=40 -v letters=150 -v kept=95 -v lost=0.5 -f "$here/sequences.awk" >"$input/genes.fa"
compare 'align: proteins' align -align "$input/proteins.fa"
compare 'super5: genes' align -super5 "$input/genes.fa"
OMP_NUM_THREADS=5 compare 'align: proteins, five threads' align -align "$input/proteins.fa"
finish
