#!/bin/sh
# The Haskell tests of the library: primitives, batches and arrays.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
cd "$root"
for suite in prim batch array linear; do
    cabal -v1 test --builddir="$root/build/cabal/dist" --test-show-details=failures "capstan:test:$suite"
done
