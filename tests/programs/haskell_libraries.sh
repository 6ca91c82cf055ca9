#!/bin/sh
# OpenBLAS and FFTW, as Debian builds them with OpenMP, from Haskell; and FFTW with threads of its own, which runs its loops in the
# pool too. Each call is right and ends, from all kinds of threads, and there is one pool of OS threads.
# test: timeout 1800
# shellcheck source=tests/programs/haskell/project.sh
. "$(dirname "$0")/haskell/project.sh"

for library in libopenblas.so.0 libfftw3_omp.so.3 libfftw3_threads.so.3; do
    find /usr/lib -name "$library" | grep -q . || {
        echo "needs libopenblas0-openmp and libfftw3-double3"
        exit 77
    }
done
ghc-pkg list --simple-output hmatrix 2>/dev/null | grep -q hmatrix || {
    echo 'hmatrix is not installed'
    exit 77
}

build_programs openblas fftw fftw-threads
beside_threads openblas
beside_threads fftw
beside_threads fftw-threads
CAPSTAN_REPORT=fd:9 "$program" 0 9>report || fail "fftw-threads: $(cat report)"
grep -q '"pool":"FFTW","sections":[1-9][0-9]*,"largest":[0-9]*,"made":0}' report || fail "FFTW's loops were not Capstan's: $(cat report)"
