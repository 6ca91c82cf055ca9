#!/bin/sh
# The Haskell tests of the library: primitives, batches and arrays.
# test: timeout 1200
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
export CABAL_CONFIG="$root/tools/cabal.config" CABAL_DIR="$root/build/cabal/home"
mkdir -p "$CABAL_DIR"
for suite in prim batch array linear; do
    cabal -v1 test --builddir="$root/build/cabal/dist" --test-show-details=failures "capstan:test:$suite"
done
