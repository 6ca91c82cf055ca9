#!/usr/bin/env bash
# The faiss-cpu wheel: tasks, locks, guided loops, and an OpenBLAS inside that uses OpenMP too.
# test: long
. "$(dirname "$0")/lib.sh"
needs_wheel faiss-cpu faiss numpy

search() {
    on "$python" "$here/faiss_search.py"
}

compare 'exact, clustered, quantized and graph search' search
finish
