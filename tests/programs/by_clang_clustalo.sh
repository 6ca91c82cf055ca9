#!/usr/bin/env bash
# Clustal Omega: dynamic loops with atomic counters, named critical sections and parallel sections.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"
needs libargtable2-dev /usr/include/argtable2.h

build() {
    ./configure CC=clang CXX=clang++ CFLAGS='-O2 -w' CXXFLAGS='-O2 -w' &&
        nice make -j"$(nproc)" && cp src/clustalo "$built/clustalo"
}

compiled clustalo clustalo build

align() {
    on "$built/clustalo" --threads "$OMP_NUM_THREADS" --infile "$1" --distmat-out distances --full \
        --guidetree-out guide --outfile aligned.fa
}

awk -v alphabet=ACDEFGHIKLMNPQRSTVWY -v count=120 -v letters=150 -v kept=94 -v lost=0.5 \
    -f "$here/sequences.awk" >"$input/proteins.fa"
compare '120 proteins' align "$input/proteins.fa"
OMP_NUM_THREADS=5 compare '120 proteins, five threads' align "$input/proteins.fa"
finish
