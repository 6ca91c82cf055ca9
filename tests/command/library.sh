#!/bin/sh
# The Haskell tests of the library: primitives, batches, arrays and the owners of foreign results.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
test_suites prim batch array binding linear
