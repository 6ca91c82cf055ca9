#!/usr/bin/env bash
# FastTree: sections, critical sections and locks; the same tree.
# test: long
. "$(dirname "$0")/lib.sh"
needs fasttree fasttreeMP

tree() {
    on fasttreeMP -quiet -nopr "$@" >tree
}

# Up to some 150 sequences; with more, FastTree's threads hand each other hits in any order.
awk -v alphabet=ACGT -v count=140 -v letters=500 -v kept=97 -v lost=0 \
    -f "$here/sequences.awk" >"$input/genes.fa"
awk -v alphabet=ACDEFGHIKLMNPQRSTVWY -v count=100 -v letters=150 -v kept=97 -v lost=0 \
    -f "$here/sequences.awk" >"$input/proteins.fa"
compare 'genes' tree -nt -gtr -seed 5 "$input/genes.fa"
compare 'proteins' tree -seed 5 "$input/proteins.fa"
finish
