#!/bin/sh
# A program that clang compiled, under `capstan run` and on the installed names: one runtime is in the process, and it is
# Capstan.
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1" >&2
    exit 1
}

clang=$(command -v clang-14 || command -v clang-19 || command -v clang) || {
    echo 'there is no clang'
    exit 77
}
cat >"$work/program.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
    members++;
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        const char *name = strrchr(line, '/');
        if (name && strstr(line, "r-xp") && (strstr(name, "omp") || strstr(name, "capstan"))) fputs(name + 1, stdout);
    }
    return members == 3 ? 0 : 1;
}
END
"$clang" -fopenmp "$work/program.c" -o "$work/program" 2>"$work/log" || {
    echo "clang has no OpenMP: $(head -n 1 "$work/log")"
    exit 77
}

CAPSTAN_LIBDIR=$root/build/lib "$root/build/bin/capstan" run --report="$work/report" -- "$work/program" >"$work/loaded" ||
    fail "capstan run: status $?"
grep -q '^libgomp.so.1.0.0$' "$work/loaded" || fail "Capstan is not loaded: $(cat "$work/loaded")"
! grep -Eq '^(libomp|libiomp)' "$work/loaded" || fail "another runtime is loaded: $(cat "$work/loaded")"
grep -q 'regions *1$' "$work/report" || fail "$(cat "$work/report")"
grep -q 'callers *code of LLVM or Intel (1)$' "$work/report" || fail "$(cat "$work/report")"

for name in libomp.so.5 libiomp5.so; do
    [ "$(readlink -f "$root/build/lib/$name")" = "$root/build/lib/libgomp.so.1.0.0" ] || fail "$name is another file"
done
LD_LIBRARY_PATH=$root/build/lib "$work/program" >"$work/loaded" || fail "by LD_LIBRARY_PATH: status $?"
[ "$(grep -c omp "$work/loaded")" = 1 ] || fail "$(cat "$work/loaded")"

# Linked with our names it asks for what LLVM's file would make it ask for.
"$clang" -fopenmp -L"$root/build/lib" "$work/program.c" -o "$work/linked" || fail 'it does not link'
readelf -d "$work/linked" | grep -q 'NEEDED.*libomp.so.5' || fail "$(readelf -d "$work/linked")"

# An object of GCC that clang links asks for GOMP_*, under the version of libomp.
if command -v gcc >/dev/null; then
    gcc -fopenmp -c "$work/program.c" -o "$work/program.o" && "$clang" -fopenmp -L"$root/build/lib" "$work/program.o" -o "$work/both" ||
        fail 'an object of GCC is not linked by clang'
    LD_LIBRARY_PATH=$root/build/lib "$work/both" >"$work/loaded" || fail "an object of GCC that clang linked: status $?"
    [ "$(grep -c omp "$work/loaded")" = 1 ] || fail "$(cat "$work/loaded")"
    CAPSTAN_LIBDIR=$root/build/lib "$root/build/bin/capstan" run --report="$work/report" -- "$work/both" >"$work/loaded" || fail "capstan run: status $?"
    grep -q 'callers *code of GCC (1)$' "$work/report" || fail "$(cat "$work/report")"
fi
