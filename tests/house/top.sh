#!/bin/sh
# capstan top shows what the runtime of a running process does: its regions' threads, and what sharing processes agreed on; and
# says why where it cannot.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
capstan=$root/build/bin/capstan
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-top.XXXXXX")
program=
trap '[ -z "$program" ] || kill "$program"; rm -rf "$work"' EXIT
[ -x "$capstan" ] || { echo "there is no $capstan: make"; exit 77; }

fail() {
    echo "$1"
    exit 1
}

# refused CODE TEXT ARGS...: the exit status, and what is said.
refused() {
    code=$1 said=$2
    shift 2
    status=0
    "$capstan" top "$@" >"$work/out" 2>&1 || status=$?
    [ "$status" = "$code" ] || fail "capstan top $*: exit status $status, not $code: $(cat "$work/out")"
    grep -q "$said" "$work/out" || fail "capstan top $*: $(cat "$work/out")"
}

# await_region PID: what top says of the process, once its region has begun.
await_region() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        "$capstan" top --once "$1" >"$work/out" 2>&1 || true
        ! grep -q 'region threads *3$' "$work/out" || return 0
    done
    fail "$(cat "$work/out")"
}

cat >"$work/program.c" <<'C'
#include <unistd.h>
int main(void) {
    alarm(100);
#pragma omp parallel num_threads(3)
    for (;;) usleep(1000);
}
C
gcc -fopenmp "$work/program.c" -o "$work/program"
LD_LIBRARY_PATH=$root/build/lib "$work/program" &
program=$!
await_region "$program"
grep -q "^process $program: 3 threads" "$work/out" || fail "$(cat "$work/out")"
grep -q 'permit threads *0$' "$work/out" || fail "$(cat "$work/out")"
refused 66 'no library of Capstan' $$
refused 66 'there is no process' 999999999
refused 64 'a process is a number' ten

# The number of a `capstan run` that waits for its program means the program.
kill "$program"
"$capstan" run --report -- "$work/program" 2>"$work/report" &
program=$!
await_region "$program"
! grep -q "^process $program:" "$work/out" || fail "the command, not its program: $(cat "$work/out")"
"$capstan" doctor --pid "$program" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q 'libgomp.so.1' "$work/out" || fail "$(cat "$work/out")"

# A program that has only just begun: its shell has not executed it yet.
kill "$program"
LD_LIBRARY_PATH=$root/build/lib sh -c 'sleep 0.2; exec "$0"' "$work/program" &
program=$!
"$capstan" top --once "$program" >"$work/out" 2>&1 || fail "before its program began: $(cat "$work/out")"
grep -q 'region threads *3$' "$work/out" || fail "$(cat "$work/out")"

# A library that anybody may write is not loaded: its constructors would run with the rights of the command.
kill "$program"
mkdir "$work/lib"
cp "$root/build/lib/libgomp.so.1.0.0" "$work/lib/libgomp.so.1"
chmod 646 "$work/lib/libgomp.so.1"
LD_LIBRARY_PATH=$work/lib "$work/program" &
program=$!
sleep 1
refused 77 'others than you and root may write' --once "$program"
chmod 644 "$work/lib/libgomp.so.1"
"$capstan" top --once "$program" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q 'region threads *3$' "$work/out" || fail "$(cat "$work/out")"
