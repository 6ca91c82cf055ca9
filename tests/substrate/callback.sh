#!/bin/sh
# Capstan.Callback on GHC's runtime systems and collectors, each with the tests of tests/hs/callback.
set -eu
cd "$(dirname "$0")/../.."
out=build/tests/substrate/callback
tests=tests/hs/callback
mkdir -p "$out"

# The runtime as in a Haskell program, compiled once; GHC's driver says so to the C files.
# shellcheck disable=SC2046
c_flags=$(printf -- '-optc%s ' $(tools/cabal-field cc-options 'common runtime' capstan.cabal) -Werror -O2 -g)
sources=$(find runtime -name '*.c' ! -path 'runtime/platform/*' | sort)
processor=runtime/platform/$(uname -m)
# shellcheck disable=SC2086
ghc -v0 -c -fPIC $c_flags -optc-fPIC -Iruntime -Iruntime/include "-I$processor" -outputdir "$out/c" $sources \
    runtime/platform/linux/*.c "$processor"/*.S
gcc -O2 -g -fopenmp -fPIC -c $tests/regions.c -o "$out/regions.o"

# build NAME FLAGS: the program NAME/tests; NAME also names the kind of its Haskell objects.
build() {
    name=$1
    shift
    mkdir -p "$out/$name"
    mkdir -p "$out/$name/cmm"
    for primitives in cmm/*.cmm; do
        ghc -v0 -O1 -Iruntime "-I$processor" -c "$@" "$primitives" -o "$out/$name/cmm/$(basename "$primitives").o"
    done
    # shellcheck disable=SC2046
    ghc -v0 -O1 -Wall -Werror -rtsopts -Iruntime "-I$processor" -isrc -isrc-task -i$tests -outputdir "$out/$name" "$@" \
        src/Capstan/Internal/Worker.hs $tests/Main.hs "$out/regions.o" "$out/$name/cmm"/*.o $(find "$out/c" -name '*.o') \
        -o "$out/$name/tests"
}

# passes NAME ARGUMENTS...: with these arguments the tests pass.
passes() {
    name=$1
    shift
    if ! timeout 400 "$out/$name/tests" "$@" >"$out/output" 2>&1; then
        echo "$name $*: failed"
        cat "$out/output"
        exit 1
    fi
}

build threaded -threaded
for options in -N1 -N2 -N4 '-N2 -c' '-N3 -A64k' '-N1 -V0'; do
    # shellcheck disable=SC2086
    passes threaded +RTS $options
done
passes threaded 'a region of one thread keeps the collector to one thread' +RTS -N2 -T

# A program that ends beside callbacks prints nothing.
for i in 1 2 3 4 5 6 7 8 9 10; do
    timeout 60 "$out/threaded/tests" ends +RTS "-N$((1 + i % 2))" >"$out/output" 2>&1 || fail=1
    if [ -n "${fail-}" ] || [ -s "$out/output" ]; then
        echo "threaded ends: failed"
        cat "$out/output"
        exit 1
    fi
done

# GHC 9.0.2's non-moving collector crashes by itself when Capabilities change.
passes threaded -setNumCapabilities '-unsafe regions on a disabled Capability' +RTS -N2 --nonmoving-gc

# A debugger sees through the side stack: who called back, from which region, on which thread.
if command -v gdb >/dev/null; then
    # A worker is waited for: the master's frames end in Haskell's, which a C debugger knows nothing of.
    # Job control may stop and continue the program.
    # shellcheck disable=SC2016 # gdb expands it
    gdb -batch -ex 'handle SIGCONT nostop noprint pass' \
        -ex 'break rts_evalIO if $_any_caller_is("cst_worker", 60)' \
        -ex 'run "teams of any size" +RTS -N2' -ex backtrace "$out/threaded/tests" >"$out/output" 2>&1
    for frame in call_in cst_thunk_enter 'region_sum._omp_fn' cst_worker; do
        if ! grep -q "^#.* $frame" "$out/output"; then
            echo "gdb shows no $frame"
            cat "$out/output"
            exit 1
        fi
    done
fi

# With one thread that collects. Of several, two may copy a Haskell thread at once (copy_tag). The copy that loses may
# get into a mutable list, and stays there when the thread ends: checkTSO follows its link to the next thread, and an
# assertion of evacuate its link to the call that the thread was bound to. Only the debugging runtime system crashes.
build debug -threaded -debug
passes debug +RTS -N2 -qg
passes debug +RTS -N3 -DS -A64k -qg

build dynamic -threaded -dynamic
passes dynamic +RTS -N2

if [ -e "$(ghc --print-libdir)"/rts/libHSrts_thr_p.a ] || ls "$(ghc --print-libdir)"/*/*/libHSrts*_thr_p.a >/dev/null 2>&1; then
    build profiled -threaded -prof
    passes profiled +RTS -N2
fi

# Without -threaded the regions run and their masters may call back.
build single
passes single 'arguments in registers and on the stack' 'narrow and single results' 'integers of every type' \
    'truth, characters and pointers' 'questions of a task' places time 'outside of regions' 'a worker without bound threads is refused' \
    'an unsafe call is refused' 'unsafe regions are counted'
