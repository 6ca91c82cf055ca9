#!/bin/sh
# The examples of events (examples/pipes, echo, pipeline), at small size.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
cd "$root"
export LD_LIBRARY_PATH="$root/build/lib"
out=$root/build/tests/event-examples
mkdir -p "$out"

for program in pipes/pipes echo/server echo/load; do
    gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -Iruntime/include "examples/$program.c" \
        build/lib/libgomp.so.1 -o "$out/$(basename "$program")"
done
for program in pipes pipeline; do
    cabal -v1 build --builddir="$root/build/cabal/dist" "exe:$program" >"$out/build" 2>&1 ||
        fail "$(cat "$out/build")"
    cp "$(cabal -v0 list-bin --builddir="$root/build/cabal/dist" "exe:$program")" "$out/haskell-$program"
done

"$out/pipes" 50 20000 | grep -q '^20000 messages through 50 pipes: ' || fail 'pipes, in C'
"$out/haskell-pipes" 50 20000 | grep -q '^20000 messages through 50 pipes: ' || fail 'pipes, in Haskell'

# Every connection gets its echoes, and then falls idle.
rm -f "$out/server.out" # of an earlier run
"$out/server" 4000 >"$out/server.out" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
until [ -s "$out/server.out" ]; do sleep 0.1; done
"$out/load" "$(head -n 1 "$out/server.out")" 300 20 >"$out/load.out" || fail "load: exit status $?"
grep -q '^6000 echoes over 300 connections: ' "$out/load.out" || fail "$(cat "$out/load.out")"
kill -TERM $server
wait $server || fail 'the server failed'
trap - EXIT
last=$(tail -n 1 "$out/server.out")
[ "$last" = '300 connections, 6000 messages, 300 closed because they were idle, 0 open' ] || fail "$last"

# As wc counts them; one is a pipe that has nothing for a while, one is not there.
rm -f "$out/slow"
mkfifo "$out/slow"
{ sleep 0.3; seq 1000; } >"$out/slow" &
"$out/haskell-pipeline" runtime/event/*.c "$out/slow" "$out/missing" >"$out/found" 2>"$out/errors"
wait
grep -q 'missing: .*does not exist' "$out/errors" || fail "$(cat "$out/errors")"
{
    wc runtime/event/*.c | grep -v ' total$' | awk '{ print $1, $2, $3, $4 }'
    echo "1000 1000 $(seq 1000 | wc -c) $out/slow"
} | sort >"$out/expected"
sort "$out/found" | diff - "$out/expected" || fail 'the pipeline counts otherwise than wc'
