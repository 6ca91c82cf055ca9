#!/bin/sh
# GCC's own test suite for libgomp: all that the stock library passes, passes here. With an argument:
# for that processor, which this machine must be able to start, as by tools/with-processor. The stock
# library is then the one of the cross compiler, whose verdicts are made first. FILTER chooses some.
# test: long
# test: timeout 3000
# test: env CAPSTAN_TEST_ON=pthread
# test: env CAPSTAN_TEST_ON=rts
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
processor=${1:-}
expected=$root/tests/conformance/baseline-gcc12.txt
library=$root/build/lib
set --
if [ -n "$processor" ]; then
    library=$root/build/$processor/lib
    expected=$root/build/$processor/baseline.txt
    set -- --cc "$processor-linux-gnu-gcc" --cxx "$processor-linux-gnu-g++" --fc "$processor-linux-gnu-gfortran" \
        --timeout 300
fi
[ -z "${FILTER:-}" ] || set -- "$@" --filter "$FILTER"
suite() {
    python3 "$root/tests/conformance/libgomp_testsuite.py" "$@"
}

if [ -n "$processor" ]; then
    suite --lib "/usr/$processor-linux-gnu/lib" "$@" --write-baseline "$expected" >"$expected.log" || [ -s "$expected" ]
    tail -n 1 "$expected.log"
fi
suite --lib "$library" --env "CAPSTAN_SUBSTRATE=${CAPSTAN_TEST_ON:-pthread}" --expect "$expected" "$@"
