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
refused 66 'no runtime of Capstan' $$
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

# A library that anybody may write: the command reads the process's memory, and loads nothing.
kill "$program"
mkdir "$work/a lib"
cp "$root/build/lib/libgomp.so.1.0.0" "$work/a lib/libgomp.so.1"
chmod 646 "$work/a lib/libgomp.so.1"
LD_LIBRARY_PATH="$work/a lib" "$work/program" &
program=$!
await_region "$program"

# A program that claims to hold a runtime: nothing of it is believed, and the terminal gets no control characters.
cat >"$work/liar.c" <<'C'
#include <stdint.h>
#include <unistd.h>
static uint32_t word = 7;
__attribute__((used)) static const struct {
    char name[24];
    const void *word;
} words[] = {{"\033[31mred", &word}, {"far", (void *)16}};
#ifndef SIZE
#define SIZE "8"
#endif
__asm__(".pushsection .note.capstan, \"a\", @note\n.balign 4\n.long 8, " SIZE ", 1\n.asciz \"Capstan\"\n"
        ".quad words - .\n.popsection");
int main(void) {
    alarm(100);
    for (;;) pause();
}
C
for size in 8 4 0xfffffff0; do
    kill "$program"
    gcc -DSIZE="\"$size\"" "$work/liar.c" -o "$work/liar"
    "$work/liar" &
    program=$!
    refused 66 "no runtime of Capstan" --once "$program"
done
sed -i 's/, {"far", (void \*)16}/, {"", 0}/' "$work/liar.c"
kill "$program"
gcc "$work/liar.c" -o "$work/liar"
"$work/liar" &
program=$!
"$capstan" top --once "$program" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q 'red *7$' "$work/out" || fail "$(cat "$work/out")"
! grep -q "$(printf '\033')" "$work/out" || fail "a control character: $(cat -v "$work/out")"
