#!/usr/bin/env bash
# MPI and OpenMP together: two processes, each bound by mpirun to one processor, whose teams stay
# there and are sized to it.
# test: long
. "$(dirname "$0")/lib.sh"
needs openmpi-bin mpirun
needs libopenmpi-dev "/usr/lib/$(uname -m)-linux-gnu/openmpi/include/mpi.h"

mpicc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -fopenmp "$here/mpi_hybrid.c" -o "$input/hybrid" ||
    exit 1

hybrid() {
    on_ranks 2 "$input/hybrid" && [ "$(grep -c 'stays there' ranks)" = 2 ]
}
threads_left_free() (
    unset OMP_NUM_THREADS
    hybrid
)

# A process with one processor has teams of one, which need no substrate.
# shellcheck disable=SC2034 # read by served in lib.sh
may_differ='"substrate":"none"'
binding=(--map-by core --bind-to core:overload-allowed)
compare 'bound to a core, threads left to the runtime' threads_left_free
OMP_NUM_THREADS=3 compare 'bound to a core, three threads each' hybrid
OMP_PLACES=cores OMP_PROC_BIND=close compare 'with places' threads_left_free
# shellcheck disable=SC2034
may_differ=
binding=(--oversubscribe --bind-to none)
compare 'not bound' hybrid
finish
