#!/usr/bin/env bash
# Elk: Fortran with OpenMP locks, ordered loops, sections and nested teams.
# test: long
. "$(dirname "$0")/lib.sh"
needs elk-lapw elk-lapw
tolerance=1e-5

# Charges are added up in any order, so results agree up to what the iteration leaves open.
silicon() {
    cp "$here/elk.in" .
    on elk-lapw >log || return 1
    tail -n 1 TOTENERGY.OUT >energy.close
    awk '/^ *[0-9]/' EIGVAL.OUT >eigenvalues.close
    cp TDOS.OUT states.close
    cp BAND.OUT bands.close
    cp EPSILON_11.OUT dielectric.close
    find . -name '*.OUT' ! -name KPOINTS.OUT ! -name 'SYM*.OUT' ! -name LATTICE.OUT -delete
    rm log
}

compare 'silicon: energy, bands, dielectric function' silicon
OMP_NUM_THREADS=2,2 OMP_NESTED=true compare 'the same with nested teams' silicon
finish
