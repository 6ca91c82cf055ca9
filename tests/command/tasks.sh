#!/bin/sh
# The Haskell tests of tasks, domains and channels, and of the examples.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
test_suites tasks channels task-examples
