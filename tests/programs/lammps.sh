#!/usr/bin/env bash
# LAMMPS: trajectories of a molten salt, byte for byte.
# test: long
. "$(dirname "$0")/lib.sh"
needs lammps lmp
needs openmpi-bin mpirun

trajectory() {
    on lmp -in "$here/lammps.in" -log none -screen screen &&
        rows screen && rm screen
}

# The rows of numbers; the rest is times and the version.
rows() {
    awk '/^ *[0-9]+ /' "$1" | grep -v -E 'atoms|CPU|%|neigh|procs'
}

two_processes() {
    on_ranks 2 lmp -in "$here/lammps.in" -log none -screen screen &&
        rows screen && rm screen
}

compare 'trajectory' trajectory
compare 'two MPI processes' two_processes
finish
