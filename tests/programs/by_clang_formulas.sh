#!/usr/bin/env bash
# The project's own calculator in C++, compiled by clang: threadprivate objects with constructors, exceptions that are
# caught in regions, tasks and critical sections, reductions of maps over threads and over a group of tasks.
# test: long
. "$(dirname "$0")/clang.sh"

calculate() {
    on "$input/formulas" "$@"
}

for level in -O0 -O2; do
    clang++ -std=c++17 "$level" -Wall -Wextra -fopenmp "$here/clang_formulas.cc" -o "$input/formulas" || exit 1
    compare "many small formulas ($level)" calculate 5000 5
    OMP_NUM_THREADS=5 compare "few large formulas ($level), five threads" calculate 200 10
done
finish
