#!/usr/bin/env bash
# The xgboost wheel: guided and dynamic loops, unsigned ones too; its own libgomp is taken over.
# test: long
. "$(dirname "$0")/lib.sh"
needs_wheel xgboost xgboost numpy

boost() {
    on "$python" "$here/xgboost_fit.py"
}

compare 'trees and predictions' boost
finish
