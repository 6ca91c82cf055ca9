#!/bin/sh
# The package in every way in which GHC links a program: without threads, with the debugging
# runtime, with profiling, and in GHCi.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-ways.XXXXXX")
trap 'rm -rf "$work"' EXIT

cat >"$work/Main.hs" <<'END'
import Capstan.Prim

main :: IO ()
main = do
  capability <- capabilityNumber
  thread <- threadNumber
  found <- place
  print (capability, thread, found == Place 0 0 1 False)
END

# library FOLDER OPTION...: builds the package, and says where its database is.
library() {
    folder=$root/build/cabal/$1
    shift
    (cd "$root" && cabal -v1 build --builddir="$folder" "$@" lib:capstan) >"$work/log" 2>&1 || {
        cat "$work/log"
        fail "the library does not build: $*"
    }
    packages=$folder/packagedb/ghc-$(ghc --numeric-version)
}

# way NAME OPTION...: links the program so and looks at its answers.
way() {
    name=$1
    shift
    ghc -v0 -package-db "$packages" -package capstan "$@" -outputdir "$work/$name" \
        "$work/Main.hs" -o "$work/$name-program" || fail "$name: it does not link"
    result=$("$work/$name-program")
    [ "$result" = '(0,0,True)' ] || fail "$name: it printed $result"
}

library dist

# exposes PACKAGE MODULE...: users see these modules of the package, and no other.
exposes() {
    ghc-pkg --package-db="$packages" --simple-output field "$1" exposed-modules |
        sed 's/ from [^ ,]*//g' | tr -s ' ,' '\n\n' | sort >"$work/exposed"
    package=$1
    shift
    printf '%s\n' "$@" | sort | diff - "$work/exposed" >"$work/difference" ||
        fail "$package exposes other modules: $(cat "$work/difference")"
}
tasks=$(printf 'Capstan.%s ' Capability Chan Domain Duration Exception Task Task.Lifted Task.Par Vector)
# shellcheck disable=SC2086 # a list
exposes capstan-task $tasks
# shellcheck disable=SC2086,SC2046 # lists
exposes capstan Capstan $tasks $(printf 'Capstan.%s ' Array Array.Linear Batch Binding Callback Event Event.Compat OpenMP Prim)

# Calls that GHC inlines into a program need their functions by name, also in the shared library.
shared=$(find "$root/build/cabal/dist" -name 'libHScapstan-[0-9t]*-inplace-ghc*.so')
[ "$(echo "$shared" | wc -l)" -eq 2 ] || fail 'there are not two shared libraries'
for library in $shared; do nm -D --defined-only "$library"; done | awk '{ print $3 }' | sort -u >"$work/visible"
# So do those of the private library `internals`, which has all modules but Capstan.Internal.Worker.
find "$root/src/Capstan" "$root/src-task/Capstan" -name '*.hs' ! -path '*/Internal/Worker.hs' -exec \
    sed -n 's/^ *foreign import .*"&\{0,1\}\(\(cst\|capstan\)_[a-z_]*\)".*/\1/p' {} + | sort -u >"$work/wanted"
hidden=$(comm -13 "$work/visible" "$work/wanted")
[ "$(wc -l <"$work/wanted")" -gt 20 ] || fail 'the foreign imports were not found'
[ -z "$hidden" ] || fail "hidden in the shared library: $hidden"

way plain
way threaded -threaded
way debug -threaded -debug
way dynamic -threaded -dynamic
way optimised -threaded -dynamic -O
result=$(echo main | ghc --interactive -v0 -ignore-dot-ghci -package-db "$packages" \
    -package capstan "$work/Main.hs" 2>&1) || fail "GHCi: $result"
[ "$result" = '(0,0,True)' ] || fail "GHCi printed $result"

without_stale_objects "$root/build/cabal/profiled"
library profiled --enable-profiling --disable-shared
way profiled -threaded -prof
