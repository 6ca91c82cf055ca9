#!/bin/sh
# Programs of other libraries, and what they have become: tests/ports.
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
installed=" $(ghc-pkg list --simple-output --names-only) "
for library in async monad-par parallel unliftio; do
    case $installed in *" $library "*) ;; *) echo "there is no $library" && exit 77 ;; esac
done
test_suites ports
