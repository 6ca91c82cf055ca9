#!/usr/bin/env bash
# One process of a Haskell program, code that GCC compiled, code that clang compiled, and MKL's wheel: each call is right, from
# all kinds of threads, and there is one pool of OS threads.
# test: long
# test: timeout 1800
. "$(dirname "$0")/lib.sh"
needs_wheel mkl threadpoolctl
needs clang clang
mkl=$(echo "$cache"/mkl/lib/libmkl_rt.so.*)
rm -rf "$work"
# shellcheck source=tests/programs/haskell/project.sh
. "$here/haskell/project.sh"

cat >"$work/clang_part.c" <<'END'
long clang_sum(long n) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++) sum += i;
    return sum;
}
END
clang -O2 -fopenmp -shared -fPIC "$work/clang_part.c" -o "$work/clang_part.so" || skip 'clang has no OpenMP'
export MIXED_CLANG=$work/clang_part.so MIXED_MKL=$mkl

build_programs mixed
for layer in INTEL GNU; do
    export MKL_THREADING_LAYER=$layer
    beside_threads mixed
done
CAPSTAN_REPORT=fd:9 "$program" 0 9>report || fail "$(cat report)"
grep -q '"haskell":true.*"gcc":[1-9].*"llvm":[1-9]' report || fail "not both compilers' calls: $(cat report)"
