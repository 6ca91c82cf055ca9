#!/usr/bin/env bash
# FastTree: sections, critical sections, locks.
# test: long
. "$(dirname "$0")/clang.sh"

build() {
    # With single precision it crashes where clang compiled it: its arrays are not aligned as its code says.
    clang -O3 -w -DUSE_DOUBLE -DOPENMP -fopenmp [fF]ast[tT]ree.c -o "$built/fasttree" -lm
}

compiled fasttree fasttree build

tree() {
    on "$built/fasttree" -quiet -nopr "$@" >tree
}

awk -v alphabet=ACGT -v count=140 -v letters=500 -v kept=97 -v lost=0 -f "$here/sequences.awk" >"$input/genes.fa"
awk -v alphabet=ACDEFGHIKLMNPQRSTVWY -v count=100 -v letters=150 -v kept=97 -v lost=0 -f "$here/sequences.awk" >"$input/proteins.fa"
compare 'genes' tree -nt -gtr -seed 5 "$input/genes.fa"
compare 'proteins' tree -seed 5 "$input/proteins.fa"
finish
