#!/usr/bin/env bash
# SuiteSparse:GraphBLAS chooses a number of threads for each call: teams change all the time.
# test: long
. "$(dirname "$0")/lib.sh"
needs libgraphblas-dev /usr/include/GraphBLAS.h
needs gcc gcc

graph() {
    on "$input/graph"
}

gcc -std=gnu11 -O2 -Wall -Wextra "$here/graphblas_graph.c" -o "$input/graph" -lgraphblas || exit 1
compare 'products, reachability, triangles, selections' graph
finish
