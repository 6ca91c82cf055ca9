#!/usr/bin/env bash
# Kalign: trees of OpenMP tasks; alignments byte for byte.
# test: long
. "$(dirname "$0")/lib.sh"
needs kalign kalign

align() {
    on kalign --nthreads "$OMP_NUM_THREADS" -i "$1" -o aligned.fa >/dev/null
}

awk -v alphabet=ACDEFGHIKLMNPQRSTVWY -v count=300 -v letters=300 -v kept=92 -v lost=0.5 \
    -f "$here/sequences.awk" >"$input/proteins.fa"
awk -v alphabet=ACGT -v count=150 -v letters=900 -v kept=95 -v lost=0.5 \
    -f "$here/sequences.awk" >"$input/genes.fa"
compare '300 proteins' align "$input/proteins.fa"
compare '150 genes' align "$input/genes.fa"
OMP_NUM_THREADS=5 compare '300 proteins, five threads' align "$input/proteins.fa"
finish
