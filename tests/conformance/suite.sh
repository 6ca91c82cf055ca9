#!/bin/sh
# GCC's own test suite for libgomp: all that the stock library passes, passes here.
# test: long
# test: timeout 3000
# test: env CAPSTAN_TEST_ON=pthread
# test: env CAPSTAN_TEST_ON=rts
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
exec python3 "$root/tests/conformance/libgomp_testsuite.py" --lib "$root/build/lib" \
    --env "CAPSTAN_SUBSTRATE=${CAPSTAN_TEST_ON:-pthread}" \
    --expect "$root/tests/conformance/baseline-gcc12.txt"
