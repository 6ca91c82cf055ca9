#!/bin/sh
# The lists in capstan.cabal are what is in the folders.
exec python3 tools/cabal-lists
