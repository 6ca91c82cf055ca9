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
grep -q '^diagnosis: allocator threshold' "$work/text" || {
    cat "$work/text"
    exit 1
}
grep -q '1.00 mmap of 132 KiB' "$work/text"
[ "$(wc -l <"$work/a.csv")" -eq 10 ]
[ "$(grep -c '<testcase' "$work/a.xml")" -eq 9 ]
grep -q '</html>' "$work/a.html"
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
