#!/bin/sh
# Arrays, their parts and batches on GHC's debugging runtime system, which looks at the whole heap at every collection: the
# tests of tests/hs/array, linear and batch.
set -eu
cd "$(dirname "$0")/../.."
out=build/tests/substrate/debug
mkdir -p "$out"

# The runtime as in a Haskell program; GHC's driver says so to the C files. These are not what is tested.
# shellcheck disable=SC2046
c_flags=$(printf -- '-optc%s ' $(tools/cabal-field cc-options 'common runtime' capstan.cabal) -Werror -O1)
sources=$(find runtime -name '*.c' ! -path 'runtime/platform/*' | sort)
processor=runtime/platform/$(uname -m)
# shellcheck disable=SC2086
ghc -v0 -c $c_flags -Iruntime -Iruntime/include "-I$processor" -outputdir "$out/c" $sources \
    runtime/platform/linux/*.c "$processor"/*.S
for primitives in cmm/*.cmm; do
    ghc -v0 -O1 -debug -threaded -Iruntime "-I$processor" -c "$primitives" -o "$out/c/$(basename "$primitives").o"
done

# passes MAIN SOURCE FOLDER: the program of that file, with the C file beside its tests, passes.
passes() {
    name=$(basename "$3")
    mkdir -p "$out/$name"
    gcc -O2 -g -D_GNU_SOURCE= -fopenmp -c "$2" -o "$out/$name.o"
    # shellcheck disable=SC2046
    ghc -v0 -O1 -Wall -Werror -rtsopts -threaded -debug -Iruntime "-I$processor" -isrc -isrc-task "-i$3" -outputdir "$out/$name" \
        src/Capstan/Internal/Worker.hs "$1" "$out/$name.o" $(find "$out/c" -name '*.o') -o "$out/$name/tests"
    # One thread that collects: see callback.sh.
    if ! timeout 200 "$out/$name/tests" +RTS -N2 -DS -A256k -qg >"$out/output" 2>&1; then
        echo "$name: failed"
        cat "$out/output"
        exit 1
    fi
}

passes tests/hs/array/Main.hs tests/hs/array/work.c tests/hs/array
passes tests/substrate/haskell/Linear.hs tests/hs/linear/work.c tests/hs/linear
passes tests/hs/batch/Main.hs tests/hs/batch/functions.c tests/hs/batch
