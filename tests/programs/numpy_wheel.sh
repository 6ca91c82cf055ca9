#!/usr/bin/env bash
# The wheels of numpy and scipy bring two copies of OpenBLAS with threads of their own, which run
# their sections in the pool instead: the same bits of every result, whatever the number of threads,
# from several threads of Python at once, in forked children, and in the regions of an OpenMP program.
# test: long
. "$(dirname "$0")/lib.sh"
needs_wheel scipy numpy scipy.linalg threadpoolctl
needs gcc gcc
# Of PyPI's wheels; another copy may have other names for the same calls.
openblas=$(echo "$cache"/scipy/lib/python3*/site-packages/numpy.libs/libscipy_openblas64_*.so)

algebra() {
    on "$python" "$here/numpy_wheel.py" "$@"
}

nested() {
    on "$input/nested" "$openblas"
}

# On Capstan OpenBLAS's sections were its, unless $1 says why not.
expect_sections() {
    local reason=${1:-} runtime report
    [ "$failed" = 0 ] || return
    for runtime in $runtimes; do
        report=$folder/$runtime/report
        grep -q '"pool":"OpenBLAS","sections":[1-9]' "$report" ||
            fail "$runtime: OpenBLAS was not served: $(cat "$report")"
        [ -z "$reason" ] || grep -q "$reason" "$report" ||
            fail "$runtime: the report does not say \"$reason\": $(cat "$report")"
        [ -n "$reason" ] || ! grep -q '"why"' "$report" ||
            fail "$runtime: OpenBLAS was given back: $(cat "$report")"
    done
}

gcc -std=gnu11 -O2 -Wall -Wextra -fopenmp "$here/openblas_nested.c" -o "$input/nested" -ldl || exit 1

# Processors that are few cost much where threads wait for each other without yielding.
export OPENBLAS_NUM_THREADS=2
compare 'products, factorisations, with 2, 1, 3 and again 2 threads' algebra digests 2 1 3 2
expect_sections
compare '64 threads, for which it has no numbers' algebra many 64 2
expect_sections 'leave no numbers'
compare 'four threads of Python at once' algebra callers 2
expect_sections
compare 'forked before, between and after' algebra forks 2
compare 'one pool' algebra pool 2
compare 'called in regions' nested
expect_sections
finish
