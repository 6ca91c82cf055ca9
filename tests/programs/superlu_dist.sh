#!/usr/bin/env bash
# SuperLU_DIST's own drivers: taskloop, tasks, guided loops, locks tried; under MPI too.
# test: long
. "$(dirname "$0")/lib.sh"
examples=/usr/lib/$(uname -m)-linux-gnu/superlu-dist/tests/EXAMPLE
needs libsuperlu-dist-dev "$examples/pddrive"
needs openmpi-bin mpirun

# The order in which updates are added is free, so are the last bits: the shape of the factors must
# agree exactly and the error of each solution must be small. Times are dropped.
shape() {
    awk '
        /Nonzeros|nonzeros|Matrix size|Tiny Pivots/ { print }
        /\|\|X-Xtrue\|\|/ { print "solution", $2, ($NF + 0 < 1e-12 ? "is right" : "error " $NF) }'
}

driver() {
    local program=$1
    shift
    on "$examples/$program" -r 1 -c 1 "$@" | shape
}

two_processes() {
    on_ranks 2 "$examples/pddrive" -r 1 -c 2 "$examples/big.rua" | shape
}

compare 'real matrix, 400 unknowns' driver pddrive "$examples/g20.rua"
compare 'real matrix, 4960 unknowns' driver pddrive "$examples/big.rua"
compare 'factors used again' driver pddrive2 "$examples/big.rua"
compare 'complex matrix' driver pzdrive "$examples/cg20.cua"
compare 'two MPI processes' two_processes
finish
