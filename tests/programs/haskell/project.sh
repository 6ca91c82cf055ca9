# shellcheck shell=sh
# For tests that build the programs of haskell/ as a user does: a project that depends on capstan. Sourced.
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-libraries.XXXXXX")
trap 'rm -rf "$work"' EXIT
built=$root/build/cabal/user

# build_programs NAME...
build_programs() {
    cp "$root"/tests/programs/haskell/* "$work"
    cd "$work"
    cabal_project
    without_stale_objects "$built"
    for name in "$@"; do
        cabal -v1 build "exe:$name" --builddir="$built" >build.log 2>&1 || fail "$(cat build.log)"
    done
}

# beside_threads NAME: the program, beside none, one and two threads that compute, on several numbers of Capabilities. What
# does not end is stopped. How many threads a team has is left to the runtime.
beside_threads() {
    unset OMP_DYNAMIC OMP_NUM_THREADS OPENBLAS_NUM_THREADS
    program=$(cabal -v0 list-bin "exe:$1" --builddir="$built")
    for capabilities in 1 2 8; do
        for computing in 0 1 2; do
            status=0
            timeout --kill-after=5 180 "$program" "$computing" +RTS -N$capabilities >said 2>&1 || status=$?
            [ "$status" = 0 ] ||
                fail "$1 beside $computing threads on $capabilities Capabilities: exit status $status (124, 137: no end): $(cat said)"
        done
    done
}
