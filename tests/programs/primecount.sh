#!/usr/bin/env bash
# primecount: an exact answer, many short regions.
. "$(dirname "$0")/lib.sh"
needs primecount-bin primecount

answer() {
    local count
    count=$(on primecount "$@") && echo "$count"
}

known() {
    [ "$(answer "$1")" = "$2" ] && echo "$2"
}

compare 'primecount 1e13 is 346065536839' known 1e13 346065536839
compare 'Deleglise-Rivat, 1e12' answer 1e12 --deleglise-rivat
compare 'Lagarias-Miller-Odlyzko, 1e11' answer 1e11 --lmo
compare 'partial sieve function, 1e12' answer --phi 1e12 100
finish
