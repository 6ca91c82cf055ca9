#!/usr/bin/env bash
# SUNDIALS: three of its examples, which solve differential and nonlinear equations on vectors with OpenMP: thousands of
# small static loops, and sums by critical sections and reductions.
# test: long
# test: timeout 3600
. "$(dirname "$0")/clang.sh"
needs cmake cmake
examples=(cvAdvDiff_bnd_omp kinFoodWeb_kry_omp ark_heat1D_omp)

build() {
    cmake -B built -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS='-O2 -w' -DENABLE_OPENMP=ON -DBUILD_SHARED_LIBS=OFF \
        -DBUILD_CVODES=OFF -DBUILD_IDA=OFF -DBUILD_IDAS=OFF -DEXAMPLES_INSTALL=OFF &&
        nice make -C built -j"$(nproc)" "${examples[@]}" &&
        find built/examples -type f -name '*_omp' -executable -exec cp {} "$built" \;
}

compiled sundials "${examples[@]}" build

# Two threads add up in one way; three and more add up in any order, and then steps differ where a solver is sensitive.
solve() {
    on "$built/$1" "$OMP_NUM_THREADS" >solution.close
}

tolerance=1e-3
for example in "${examples[@]}"; do
    compare "$example" solve "$example"
done
OMP_NUM_THREADS=5 compare 'cvAdvDiff_bnd_omp with five threads' solve cvAdvDiff_bnd_omp
finish
