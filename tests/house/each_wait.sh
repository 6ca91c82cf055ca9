#!/bin/sh
# The constructs and the random programs with each heuristic of waiting switched off, and with all of them: what threads do
# while they wait is a matter of speed, never of results. WAITS="spin:off turns:off" chooses some.
# test: long
# test: timeout 7200
set -eu
cd "$(dirname "$0")/../.."
names=$(grep -o '"[a-z]*", *CST_HEURISTIC_' runtime/core/settings/waiting.c | cut -d'"' -f2)
[ "$(echo "$names" | wc -l)" -gt 1 ] || {
    echo 'runtime/core/settings/waiting.c does not name the heuristics where they are looked for'
    exit 1
}
failed=
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for wait in ${WAITS:-$(echo "$names" | sed 's/$/:off/')}; do
    echo "CAPSTAN_WAIT=$wait"
    tools/run-tests --on pthread,rts --env "CAPSTAN_WAIT=$wait" --filter '^c/(construct|stress)/' >"$log" 2>&1 || {
        failed="$failed $wait"
        grep -v "^ok " "$log"
    }
done
[ -z "$failed" ] || {
    echo "failed under:$failed"
    exit 1
}
