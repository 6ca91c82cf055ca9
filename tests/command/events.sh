#!/bin/sh
# The Haskell tests of events and timers (tests/hs/event).
# test: timeout 1200
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
export CABAL_CONFIG="$root/tools/cabal.config" CABAL_DIR="$root/build/cabal/home"
mkdir -p "$CABAL_DIR"
exec cabal -v1 test --builddir="$root/build/cabal/dist" --test-show-details=failures capstan:test:events
