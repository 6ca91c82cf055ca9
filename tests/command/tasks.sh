#!/bin/sh
# The Haskell tests of tasks, domains and channels, and of the examples.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
cd "$root"
for suite in tasks channels task-examples; do
    cabal -v1 test --builddir="$root/build/cabal/dist" --test-show-details=failures "capstan:test:$suite"
done
