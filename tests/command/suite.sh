#!/bin/sh
# The command's own tests (tests/hs/cli), on a fake runtime and on the one that was built.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
cd "$root"
export CAPSTAN_TEST_LIBDIR="$root/build/lib"
test_suites command
