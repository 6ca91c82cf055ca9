#!/usr/bin/env bash
# Clustal Omega: dynamic loops with atomic counters, named critical sections and parallel sections.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"
. "$(dirname "$0")/alignments.sh"
needs libargtable2-dev /usr/include/argtable2.h

build() {
    ./configure CC=clang CXX=clang++ CFLAGS='-O2 -w' CXXFLAGS='-O2 -w' &&
        nice make -j"$(nproc)" && cp src/clustalo "$built/clustalo"
}

compiled clustalo clustalo build

align_proteins "$built/clustalo"
finish
