#!/bin/sh
# GCC's own test suite for libgomp: all that the stock library passes, passes here.
#
#     tests/conformance/suite.sh
#     tools/with-processor aarch64 tests/conformance/suite.sh aarch64
#     tools/with-processor aarch64 tests/conformance/suite.sh aarch64 --filter doacross
#
# For another processor the stock library is that of the cross compiler. Its verdicts are made first.
#
# test: long
# test: timeout 3000
# test: env CAPSTAN_TEST_ON=pthread
# test: env CAPSTAN_TEST_ON=rts
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
processor=${1:-}
expected=$root/tests/conformance/baseline-gcc12.txt
library=$root/build/lib
[ $# = 0 ] || shift
if [ -n "$processor" ]; then
    library=$root/build/$processor/lib
    expected=$root/build/$processor/baseline.txt
    set -- --processor "$processor" --timeout 300 "$@"
fi
suite() {
    python3 "$root/tests/conformance/libgomp_testsuite.py" "$@"
}

if [ -n "$processor" ]; then
    suite --lib "/usr/$processor-linux-gnu/lib" "$@" --write-baseline "$expected" >"$expected.log" || [ -s "$expected" ]
    tail -n 1 "$expected.log"
fi
suite --lib "$library" --env "CAPSTAN_SUBSTRATE=${CAPSTAN_TEST_ON:-pthread}" --expect "$expected" "$@"
