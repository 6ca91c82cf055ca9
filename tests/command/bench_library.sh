#!/bin/sh
# Capstan.Bench (tests/hs/ffi-bench): what it counts in real processes, and its diagnosis of made-up ones.
# test: timeout 1800
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
cd "$root"
if ! ghc-pkg list --simple-output criterion 2>/dev/null | grep -q criterion; then
    echo 'criterion is not installed'
    exit 77
fi
cabal -v1 build --builddir="$root/build/cabal/dist" exe:puzzle
test_suites bench-library

# The examples do what they say.
if ghc-pkg list --simple-output repa 2>/dev/null | grep -q repa; then
    cabal -v1 build --builddir="$root/build/cabal/dist" exe:wavelet
    "$(cabal -v0 list-bin --builddir="$root/build/cabal/dist" exe:wavelet)" --check
fi
puzzle=$(cabal -v0 list-bin --builddir="$root/build/cabal/dist" exe:puzzle)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-bench-library.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$puzzle" --rounds 2 --time-limit 0.2 --json "$work/a.json" --csv "$work/a.csv" --junit "$work/a.xml" --output "$work/a.html" >"$work/text"
# has NUMBER PATTERN FILE: so many lines match; else the figures are shown.
has() {
    found=$(grep -c "$2" "$3") || true
    [ "$found" -eq "$1" ] || {
        echo "$found, not $1, lines of ${3##*/} match: $2"
        cat "$work/text"
        exit 1
    }
}
has 1 '^diagnosis: allocator threshold' "$work/text"
has 1 '1.00 mmap of 132 KiB' "$work/text"
has 10 '' "$work/a.csv"
has 9 '<testcase' "$work/a.xml"
has 1 '</html>' "$work/a.html"
# What is read from elsewhere would not be there without a network.
! grep -q -E '(src|href)=' "$work/a.html"
"$puzzle" --list | grep -q '^C/copy 9$'

# Exit codes: a diagnosis with --strict, a name that matches nothing, an option that is refused.
code() {
    wanted=$1
    shift
    status=0
    "$puzzle" "$@" >"$work/text" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || {
        echo "exit status $status, not $wanted: $*"
        cat "$work/text"
        exit 1
    }
}
code 1 --rounds 1 --time-limit 0.1 --strict 'C/copy 1'
code 0 --rounds 1 --time-limit 0.1 'C/copy 1' --baseline "$work/a.json" --tolerance 100000
code 64 no-such-benchmark
code 64 --raw "$work/raw" 'C/copy 1'
