#!/bin/sh
# A part of GCC's test suite for libgomp: few tests that together make every call that any of them
# makes (part.txt). All of it: suite.sh. With an argument: for that processor, which this machine must
# be able to start, as by tools/with-processor.
# test: timeout 1200
# test: env CAPSTAN_TEST_ON=pthread
# test: env CAPSTAN_TEST_ON=rts
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
processor=${1:-}
library=$root/build${processor:+/$processor}/lib
if [ -n "$processor" ]; then
    set -- --processor "$processor" --timeout 300
fi
names=$(sed 's/[.+]/\\&/g' "$root/tests/conformance/part.txt" | paste -s -d '|')
exec python3 "$root/tests/conformance/libgomp_testsuite.py" --lib "$library" \
    --env "CAPSTAN_SUBSTRATE=${CAPSTAN_TEST_ON:-pthread}" --filter "^($names)\$" "$@"
