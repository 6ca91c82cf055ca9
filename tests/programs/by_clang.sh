#!/usr/bin/env bash
# Programs of Debian's, compiled here by clang: the same on LLVM's libomp and on Capstan. FastTree (sections, critical sections,
# locks), and OpenBLAS with OpenMP (thousands of regions; the BLAS alone, for one processor type).
# test: long
# test: timeout 3600
. "$(dirname "$0")/lib.sh"
needs clang clang
needs dpkg-dev dpkg-source
built=$cache/by_clang
mkdir -p "$built"

# source_of PACKAGE: its unpacked source; sets $unpacked.
source_of() {
    local lists=$cache/sources
    unpacked=$(find "$lists" -maxdepth 1 -type d -name "$1-*" 2>/dev/null | head -n 1)
    [ -z "$unpacked" ] || return 0
    may_install || skip "the source of $1 is not there"
    mkdir -p "$lists/lists/partial"
    # shellcheck disable=SC1091 # of the machine
    echo "deb-src ${CAPSTAN_TEST_MIRROR:-http://deb.debian.org/debian} $(. /etc/os-release && echo "$VERSION_CODENAME") main" \
        >"$lists/sources.list"
    (
        cd "$lists" || exit 1
        options=(-qq -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null
            -o Dir::State::lists="$PWD/lists" -o APT::Sandbox::User=root)
        apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only "$1" &&
            dpkg-source --no-check -x "$1"_*.dsc
    ) >"$work/source" 2>&1 || skip "the source of $1 cannot be had: $(tail -n 1 "$work/source")"
    unpacked=$(find "$lists" -maxdepth 1 -type d -name "$1-*" | head -n 1)
}

# --- FastTree ---------------------------------------------------------------------------------

if ! [ -x "$built/fasttree" ]; then
    source_of fasttree
    # With single precision it crashes where clang compiled it: its arrays are not aligned as its code says.
    clang -O3 -w -DUSE_DOUBLE -DOPENMP -fopenmp "$unpacked"/[fF]ast[tT]ree.c -o "$built/fasttree" -lm ||
        fail 'FastTree is not compiled by clang'
fi

tree() {
    on "$built/fasttree" -quiet -nopr "$@" >tree
}

awk -v alphabet=ACGT -v count=140 -v letters=500 -v kept=97 -v lost=0 -f "$here/sequences.awk" >"$input/genes.fa"
awk -v alphabet=ACDEFGHIKLMNPQRSTVWY -v count=100 -v letters=150 -v kept=97 -v lost=0 -f "$here/sequences.awk" >"$input/proteins.fa"
compare 'FastTree: genes' tree -nt -gtr -seed 5 "$input/genes.fa"
compare 'FastTree: proteins' tree -seed 5 "$input/proteins.fa"

# --- OpenBLAS ---------------------------------------------------------------------------------

if ! [ -e "$built/libopenblas.so.0" ]; then
    source_of openblas
    nice make -C "$unpacked" -j"$(nproc)" CC=clang HOSTCC=gcc USE_OPENMP=1 TARGET=HASWELL NO_LAPACK=1 NOFORTRAN=1 NO_STATIC=1 \
        NUM_THREADS=8 libs shared >"$work/openblas" 2>&1 || fail "OpenBLAS is not built by clang: $(tail -n 3 "$work/openblas")"
    cp "$(readlink -f "$unpacked/libopenblas.so.0")" "$built/libopenblas.so.0"
fi

products() {
    on "$input/products" "$built/libopenblas.so.0"
}

gcc -std=gnu11 -O2 -Wall -Wextra "$here/openblas_products.c" -o "$input/products" -ldl -lm || exit 1
compare 'OpenBLAS: products of matrices and vectors' products
OMP_NUM_THREADS=4 compare 'OpenBLAS with four threads' products
finish
