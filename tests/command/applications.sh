#!/bin/sh
# The examples of real use (examples/solver, image, server): each computes what it should.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
cd "$root"
out=$root/build/tests/applications
mkdir -p "$out"

for program in solver image server; do
    cabal -v1 build --builddir="$root/build/cabal/dist" "exe:$program" >"$out/build" 2>&1 ||
        fail "$(cat "$out/build")"
    cp "$(cabal -v0 list-bin --builddir="$root/build/cabal/dist" "exe:$program")" "$out/$program"
done

# Each fails by itself if what it computed is wrong.
"$out/solver" 241 2 >"$out/solver.out" 2>&1 || fail "solver: $(cat "$out/solver.out")"
[ "$(grep -c 'largest error' "$out/solver.out")" = 2 ] || fail "solver: $(cat "$out/solver.out")"
"$out/image" check >"$out/image.out" 2>&1 || fail "image: $(cat "$out/image.out")"

# Through files: an edge where there is one, and none elsewhere.
convert=/usr/bin/convert
$convert -size 4x2 xc:black xc:white +append "$out/step.png"
"$out/image" edges "$out/step.png" "$out/edges.png" >/dev/null || fail 'image edges'
bytes=$($convert "$out/edges.png" -depth 8 gray:- | od -An -v -w8 -t u1 | sort -u | tr -s ' ')
[ "$bytes" = ' 0 0 0 255 255 0 0 0' ] || fail "image: the edges are $bytes"

# Every answer is checked by the clients. Both runtimes in turn, for a moment.
examples/server/compare "$out/server" 1 0.5 4 60 >"$out/server.out" 2>&1 || fail "server: $(cat "$out/server.out")"
for runtime in capstan libgomp; do
    grep -q "^$runtime  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9]*\$" "$out/server.out" || fail "server: $(cat "$out/server.out")"
done
