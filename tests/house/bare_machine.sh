#!/bin/sh
# On a machine without a compiler, make can install one, and says how otherwise. The command and the demo's program are planned
# without each package that the command does not need.
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-bare.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$root"

make -n CC=no-compiler test-dependencies >"$work/log" 2>&1 || fail "without a compiler: $(cat "$work/log")"
grep -q 'tools/install-dependencies' "$work/log" || fail "it installs nothing: $(cat "$work/log")"
! make CC=no-compiler BUILD="$work/build" lib >"$work/log" 2>&1 || fail 'a library without a compiler'
grep -q 'no C compiler here (no-compiler): .*install-dependencies build' "$work/log" ||
    fail "it does not say how to install one: $(cat "$work/log")"

# planned CONSTRAINT...: Cabal finds a plan for what `make all` and `make demo` build.
planned() {
    cabal -v1 build --dry-run --builddir="$work/plan" exe:capstan exe:callers "$@" >"$work/log" 2>&1 ||
        fail "no plan with $*: $(cat "$work/log")"
    grep -q 'exe:callers' "$work/log" || fail "the plan lacks the program: $(cat "$work/log")"
}

# A version below 0 stands for a package that is not installed.
set --
for package in criterion tasty repa JuicyPixels warp hmatrix; do
    planned --constraint="$package <0"
    set -- "$@" --constraint="$package <0"
done
planned "$@"
