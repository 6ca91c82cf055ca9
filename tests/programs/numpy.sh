#!/usr/bin/env bash
# numpy on OpenBLAS built with OpenMP: the same bits of every matrix, by the command and by the
# loader, from one thread of Python and from four at once.
. "$(dirname "$0")/lib.sh"
needs python3-numpy /usr/lib/python3/dist-packages/numpy
needs libopenblas0-openmp "$(openblas_openmp)/libblas.so.3"

# numpy WAY SCRIPT: the script, on the right variant of OpenBLAS.
numpy() {
    LD_LIBRARY_PATH=$(openblas_openmp) "$1" /usr/bin/python3 "$here/$2"
}

for way in on by_path; do
    compare "product, solve, Cholesky, QR, eigenvalues, SVD ($way)" numpy $way numpy_algebra.py
    compare "four threads of Python at once ($way)" numpy $way numpy_threads.py
    OMP_NUM_THREADS=5 compare "the same, with five threads each ($way)" numpy $way numpy_threads.py
done

# Python loads OpenBLAS late, and OpenBLAS makes no thread itself.
served=$(LD_LIBRARY_PATH=$(openblas_openmp) "$capstan" run --report -- /usr/bin/python3 \
    "$here/numpy_threads.py" 2>&1 | grep -c "OpenBLAS .*served: it uses OpenMP")
[ "$served" = 1 ] || fail "the report does not say that OpenBLAS is served"
finish
