#!/bin/sh
# The Haskell tests of events and timers (tests/hs/event).
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
test_suites events
