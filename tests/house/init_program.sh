#!/bin/sh
# What `capstan init` writes builds, runs and passes its test, on Debian's packages and the package's own source, without a network.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
command=$root/build/bin/capstan
[ -x "$command" ] || { echo 'make command builds what is tested'; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-init.XXXXXX")
trap 'rm -rf "$work"' EXIT

cd "$work"
"$command" init hello-there --source "$root" >written || fail "init: $(cat written)"
grep -q 'cabal run hello-there' written || fail "it does not say how to go on: $(cat written)"

cd hello-there
echo 'active-repositories: :none' >>cabal.project

# A user of the library needs no package that only the command needs. (The plan has the tests of the library, too.)
cabal -v0 build --dry-run --builddir="$work/plan"
! grep -o -E '"pkg-name":"(aeson|statistics)"' "$work/plan/cache/plan.json" ||
    fail 'it needs these packages of the command'
grep -q '"pkg-name":"vector"' "$work/plan/cache/plan.json" || fail 'the plan names no packages'

without_stale_objects "$root/build/cabal/user"
built() {
    cabal -v1 "$@" --builddir="$root/build/cabal/user" >"$work/log" 2>&1 || {
        cat "$work/log"
        fail "cabal $1: it does not"
    }
}
built build --enable-tests
! grep -i -A 4 'warning: \[\|\[-W' "$work/log" || fail 'it has warnings'
result=$(cabal -v0 run hello-there --builddir="$root/build/cabal/user")
[ "$(echo "$result" | grep -c ' 1\.28254')" = 2 ] || fail "it printed $result"
built test

# The test can fail.
sed -i 's/sum += samples\[i\] \* samples\[i\]/sum += samples[i]/' cbits/norm.c
! cabal -v0 test --builddir="$root/build/cabal/user" >"$work/log" 2>&1 || fail 'a wrong sum passes the test'
