#!/bin/sh
# The lists in the packages' .cabal files are what is in the folders.
exec python3 tools/cabal-lists
