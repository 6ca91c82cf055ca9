#!/usr/bin/env bash
# Clustal Omega: distances in dynamic loops with a named critical section.
# test: long
. "$(dirname "$0")/lib.sh"
needs clustalo clustalo

align() {
    on clustalo --threads "$OMP_NUM_THREADS" --infile "$1" --distmat-out distances --full \
        --guidetree-out guide --outfile aligned.fa
}

awk -v alphabet=ACDEFGHIKLMNPQRSTVWY -v count=120 -v letters=150 -v kept=94 -v lost=0.5 \
    -f "$here/sequences.awk" >"$input/proteins.fa"
compare '120 proteins' align "$input/proteins.fa"
OMP_NUM_THREADS=5 compare '120 proteins, five threads' align "$input/proteins.fa"
finish
