#!/usr/bin/env bash
# MKL, as PyPI's wheel brings it: products, factorisations and Fourier transforms are the same bits on Capstan as on Intel's own
# runtime. Under `capstan run` MKL finds GCC's names and takes its layer for them; where libiomp5.so beside it is Capstan's, the
# layer for Intel's.
# test: long
. "$(dirname "$0")/lib.sh"
needs_wheel mkl threadpoolctl
needs gcc gcc
mkl=$cache/mkl/lib
rt=$(cd "$mkl" && echo libmkl_rt.so.*)

# As after `pip uninstall intel-openmp`, with Capstan's file in its place.
mkdir "$input/replaced"
for file in "$mkl"/libmkl_*; do ln -s "$file" "$input/replaced"; done
ln -s "$(readlink -f "$source_root/build/lib/libiomp5.so")" "$input/replaced/libiomp5.so"

gcc -std=gnu11 -O2 -Wall -Wextra "$here/mkl_algebra.c" -o "$input/algebra" -ldl -lm || exit 1
export MKL_DYNAMIC=FALSE

preloaded() {
    LD_LIBRARY_PATH=$mkl on "$input/algebra" "$rt"
}

replaced() {
    case $runtime in
    rts | pthread)
        CAPSTAN_REPORT=fd:9 CAPSTAN_SUBSTRATE=$runtime LD_LIBRARY_PATH=$input/replaced measure "$input/algebra" "$rt"
        ;;
    *) preloaded ;;
    esac
}

# called_by gcc|llvm: whose calls MKL made; and no pool of another runtime is in the process.
called_by() {
    local runtime
    [ "$failed" = 0 ] || return
    for runtime in $runtimes; do
        grep -q "\"$1\":[1-9]" "$folder/$runtime/report" || fail "$runtime: $(cat "$folder/$runtime/report")"
        ! grep -q '"pools":\[{' "$folder/$runtime/report" || fail "$runtime: $(cat "$folder/$runtime/report")"
    done
}

export MKL_THREADING_LAYER=INTEL
compare 'under capstan run' preloaded
called_by gcc
compare 'Capstan in the place of libiomp5.so' replaced
called_by llvm
finish
