#!/usr/bin/env bash
# Velvet: reads are put together to contigs, by loops with locks, critical sections and flushes, and parallel sections.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"
needs zlib1g-dev /usr/include/zlib.h

build() {
    nice make CC=clang OPT='-O2 -w' OPENMP=1 obj velveth velvetg && cp velveth velvetg "$built"
}

compiled velvet velveth velvetg build

assemble() {
    on "$built/velveth" assembly 21 -fasta -short "$input/reads.fa" >/dev/null &&
        on "$built/velvetg" assembly "$@" >/dev/null && rm assembly/Log
}

awk -v alphabet=ACGT -v count=1 -v letters=60000 -f "$here/sequences.awk" | awk '
    function draw() { state = (state * 69069 + 1) % 4294967296; return state / 4294967296 }
    /^>/ { next }
    { for (i = 0; i < 20000; i++) printf ">r%d\n%s\n", i, substr($0, 1 + int(draw() * (length($0) - 60)), 60) }
    ' state=7 >"$input/reads.fa"
compare 'contigs' assemble
compare 'contigs with a cutoff' assemble -cov_cutoff 4 -exp_cov auto
OMP_NUM_THREADS=5 compare 'contigs with five threads' assemble
finish
