#!/usr/bin/env bash
# R's data.table (ordered loops, single), then parallel::mclapply, which forks R after OpenMP ran.
. "$(dirname "$0")/lib.sh"
needs r-base-core Rscript
needs r-cran-data.table /usr/lib/R/site-library/data.table

# A forked child of a program on the rts substrate goes on with pthread.
# shellcheck disable=SC2034 # read by served in lib.sh
may_differ='"note"'
tables() {
    # In a child, libgomp hangs with more than one thread; Capstan may have them.
    local children=2
    [[ $runtime = rts || $runtime = pthread ]] || children=1
    CHILD_THREADS=$children on Rscript --vanilla "$here/data_table.R"
}

compare 'read, write, group, order, join; then mclapply' tables
finish
