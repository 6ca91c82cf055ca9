#!/bin/sh
# Each planted fault (tests/c/mutants) still has its place in the sources: one that has lost it tests
# nothing, and would be noticed only when all of them are run.
exec "$(dirname "$0")/../c/mutants/check-mutants" --applies
