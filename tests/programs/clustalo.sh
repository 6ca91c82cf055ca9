#!/usr/bin/env bash
# Clustal Omega: distances in dynamic loops with a named critical section.
# test: long
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/alignments.sh"
needs clustalo clustalo

align_proteins clustalo
finish
