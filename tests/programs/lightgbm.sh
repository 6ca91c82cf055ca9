#!/usr/bin/env bash
# The lightgbm wheel, which has no libgomp of its own and takes the system's.
# test: long
. "$(dirname "$0")/lib.sh"
needs_wheel lightgbm lightgbm numpy

boost() {
    on "$python" "$here/lightgbm_fit.py"
}

compare 'trees and predictions' boost
finish
