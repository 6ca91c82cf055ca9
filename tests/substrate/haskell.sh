#!/bin/sh
# The rts substrate inside Haskell programs: linked statically and dynamically, with and without
# -threaded, and in a C program that starts and ends the RTS itself. Scenarios are in
# haskell/Host.hs.
set -eu
cd "$(dirname "$0")/../.."
out=build/tests/substrate
processor=runtime/platform/$(uname -m)
sources="src/Capstan/Internal/Worker.hs tests/substrate/haskell/probe.c
    runtime/substrate/rts/*.c runtime/substrate/thread.c runtime/platform/linux/*.c
    $processor/*.S"
c_flags=
for flag in $(tools/cabal-field cc-options 'common runtime' capstan.cabal) -Werror -O2 -g; do
    c_flags="$c_flags -optc$flag"
done

# build NAME FLAGS: the program build/tests/substrate/NAME/host.
build() {
    name=$1
    shift
    mkdir -p "$out/$name"
    # shellcheck disable=SC2086
    ghc -v0 -O1 -Wall -Werror -rtsopts $c_flags -Iruntime -Iruntime/include "-I$processor" -Itests/c -isrc \
        -itests/substrate/haskell -outputdir "$out/$name" $sources "$@" -o "$out/$name/host"
}

# expect STATUS COMMAND...: the command ends with that status, in time.
expect() {
    wanted=$1
    shift
    status=0
    timeout 60 "$@" >"$out/output" 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ]; then
        echo "$*: exit status $status, not $wanted"
        cat "$out/output"
        exit 1
    fi
}

build static tests/substrate/haskell/Host.hs -threaded
build dynamic tests/substrate/haskell/Host.hs -threaded -dynamic -optc-fPIC
build single tests/substrate/haskell/Host.hs
build foreign tests/substrate/haskell/foreign.c -threaded -no-hs-main

for scenario in busy idle goesOn searching sleeping stopped; do
    expect 0 "$out/static/host" "$scenario" +RTS -N2
done
for _ in 1 2 3 4 5 6 7 8 9 10; do
    expect 0 "$out/static/host" awaiting +RTS -N2
done
expect 0 "$out/static/host" collectors +RTS -N2 -qn2 -T
expect 0 "$out/static/host" marking +RTS -N2 -V0 -A64m --nonmoving-gc
for kind in static dynamic; do
    for scenario in holds collect unsafe callers return; do
        expect 0 "$out/$kind/host" "$scenario" +RTS -N2
    done
    # One thread collects: of 16 that do, on few processors, most spin, and a run takes a minute.
    expect 0 "$out/$kind/host" resize +RTS -N2 -qg
    expect 0 "$out/$kind/host" unsafe +RTS -N1
    expect 0 "$out/$kind/host" callers +RTS -N4 -A64k
    expect 0 "$out/$kind/host" resize +RTS -N1 -qg
    # Not with resize: GHC 9.0.2's non-moving collector crashes by itself when Capabilities change.
    expect 0 "$out/$kind/host" collect +RTS -N2 --nonmoving-gc
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        expect 0 "$out/$kind/host" return +RTS -N2
        expect 0 "$out/$kind/host" return +RTS -N2 --nonmoving-gc
        expect 3 "$out/$kind/host" exit +RTS -N2
    done
done
expect 0 "$out/single/host" refused
grep -q 'not linked with -threaded' "$out/output"
expect 0 "$out/foreign/host"
