# shellcheck shell=sh
# For tests that build with Cabal; sourced. Sets $root, the project's folder, and Cabal's configuration.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
export CABAL_CONFIG="$root/tools/cabal.config" CABAL_DIR="$root/build/cabal/home"
mkdir -p "$CABAL_DIR"

fail() {
    echo "$*"
    exit 1
}

# test_suites NAME...: builds and runs test suites of the packages, one after the other.
test_suites() {
    cd "$root"
    for suite in "$@"; do
        cabal -v1 test --builddir="$root/build/cabal/dist" --test-show-details=failures "test:$suite"
    done
}

# cabal_project: the project of a user's package in this folder, with the packages from here and no index.
cabal_project() {
    printf 'packages: . %s\nactive-repositories: :none\n' "$root $root/exports $root/src-task $root/src-bench" >cabal.project
}

# without_stale_objects FOLDER: empties Cabal's folder if it may hold objects of headers that have
# changed; Cabal calls them up to date. (Of build/cabal/dist make takes care.)
without_stale_objects() {
    if [ ! -e "$1/headers" ] ||
        [ -n "$(find "$root/runtime" "$root/src-bench" -name '*.h' -newer "$1/headers" | head -n 1)" ]; then
        rm -rf "$1"
        mkdir -p "$1"
        touch "$1/headers"
    fi
}

# build_user EXECUTABLE...: builds these executables of the user's package in this folder; they fail with Cabal's words.
build_user() {
    without_stale_objects "$root/build/cabal/user"
    for executable in "$@"; do set -- "$@" "exe:$executable" && shift; done
    cabal -v1 build "$@" --builddir="$root/build/cabal/user" >build.log 2>&1 || {
        cat build.log
        fail 'it does not build'
    }
}

# user_program EXECUTABLE: the file of one that was built so.
user_program() {
    cabal -v0 list-bin "exe:$1" --builddir="$root/build/cabal/user"
}
