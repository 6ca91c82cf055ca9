# shellcheck shell=bash
# Alignments by Clustal Omega, for the tests that source this file.
# shellcheck disable=SC2154 # set by lib.sh

# align_proteins PROGRAM: with the usual number of threads, and with five.
align_proteins() {
    local program=$1
    align() {
        on "$program" --threads "$OMP_NUM_THREADS" --infile "$1" --distmat-out distances --full \
            --guidetree-out guide --outfile aligned.fa
    }
    awk -v alphabet=ACDEFGHIKLMNPQRSTVWY -v count=120 -v letters=150 -v kept=94 -v lost=0.5 \
        -f "$here/sequences.awk" >"$input/proteins.fa"
    compare '120 proteins' align "$input/proteins.fa"
    OMP_NUM_THREADS=5 compare '120 proteins, five threads' align "$input/proteins.fa"
}
