#!/bin/sh
# A part of GCC's test suite for libgomp: few tests that together make every call that any of them
# makes (part.txt). All of it: suite.sh.
# test: timeout 1200
# test: env CAPSTAN_TEST_ON=pthread
# test: env CAPSTAN_TEST_ON=rts
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
names=$(sed 's/[.+]/\\&/g' "$root/tests/conformance/part.txt" | paste -s -d '|')
exec python3 "$root/tests/conformance/libgomp_testsuite.py" --lib "$root/build/lib" \
    --env "CAPSTAN_SUBSTRATE=${CAPSTAN_TEST_ON:-pthread}" --filter "^($names)\$"
