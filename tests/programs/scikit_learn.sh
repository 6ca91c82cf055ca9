#!/usr/bin/env bash
# The scikit-learn wheel brings its own libgomp under a hashed name; Capstan takes its place by
# LD_PRELOAD, and threadpoolctl can see and set it.
. "$(dirname "$0")/lib.sh"
needs_wheel scikit-learn sklearn threadpoolctl

learn() {
    on "$python" "$here/scikit_learn_fit.py"
}

controlled() {
    on "$python" "$here/scikit_learn_threads.py" "$runtime"
}

compare 'boosting, k-means, neighbours, t-SNE: predictions' learn
compare 'threadpoolctl finds the runtime and sets its threads' controlled
finish
