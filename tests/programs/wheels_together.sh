#!/usr/bin/env bash
# Seven wheels in one interpreter: numpy, scipy, scikit-learn, xgboost, LightGBM, faiss and MKL. Their results are the same bits
# as without Capstan: one library after the other, all at once, LightGBM's fits by joblib's threads, and in children of every
# kind before and after each library. The process has one pool; OpenBLAS's two copies keep what they made as they were loaded.
# test: long
# test: timeout 1200
. "$(dirname "$0")/lib.sh"
# xgboost-cpu is xgboost without the code for GPUs, which takes a hundred times as much room.
wheels_beside=(threadpoolctl scipy scikit-learn lightgbm faiss-cpu mkl joblib)
needs_wheel xgboost-cpu numpy scipy sklearn xgboost lightgbm faiss joblib threadpoolctl
export MKL_DYNAMIC=FALSE PYTHONDONTWRITEBYTECODE=1

use() {
    on "$python" "$here/wheels_together.py" "$@"
}

# GCC's runtime hangs in a child that was forked after a region: there the parent does the work.
in_processes() {
    case $runtime in
    libgomp) use processes here ;;
    *) use processes ;;
    esac
}

compare 'one after the other' use each
compare 'all at once, each in a thread of Python' use callers
compare "LightGBM's fits by joblib's threads" use nested
compare 'one pool' use pool
compare 'before and after each, in children of every kind' in_processes
finish
