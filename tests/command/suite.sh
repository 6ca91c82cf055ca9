#!/bin/sh
# The command's own tests (tests/hs/cli), on a fake runtime and on the one that was built.
# test: timeout 1200
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
export CABAL_CONFIG="$root/tools/cabal.config" CABAL_DIR="$root/build/cabal/home"
mkdir -p "$CABAL_DIR"
export CAPSTAN_TEST_LIBDIR="$root/build/lib"
exec cabal -v1 test --builddir="$root/build/cabal/dist" --test-show-details=failures capstan:test:command
