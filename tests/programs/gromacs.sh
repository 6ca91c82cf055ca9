#!/usr/bin/env bash
# GROMACS: molecular dynamics of water, every coordinate, velocity and energy.
# test: long
. "$(dirname "$0")/lib.sh"
needs gromacs gmx

water() {
    {
        printf '#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/spce.itp"\n'
        printf '[ system ]\nwater\n[ molecules ]\n'
    } >"$input/topol.top"
    (
        cd "$input" &&
            gmx -quiet solvate -cs spc216 -box 3 3 3 -o water.gro -p topol.top &&
            gmx -quiet grompp -f "$here/gromacs.mdp" -c water.gro -p topol.top -o run.tpr -maxwarn 2
    ) >"$work/prepared" 2>&1 || {
        cat "$work/prepared"
        fail 'the input could not be made'
        finish
    }
}

dynamics() {
    on gmx -quiet mdrun -s "$input/run.tpr" -deffnm run -ntmpi 1 -ntomp "$OMP_NUM_THREADS" -pin off \
        -nb cpu -pme cpu -dlb no -notunepme -reprod >log 2>&1 || return 1
    gmx -quiet dump -f run.trr >trajectory 2>log || return 1
    gmx -quiet dump -e run.edr >energies 2>log || return 1
    rm log run.log run.cpt run.trr run.edr
}

water
compare 'trajectory and energies of water' dynamics
OMP_NUM_THREADS=5 compare 'with more threads than processors' dynamics
finish
