#!/bin/sh
# make install puts every file in place, the installed command serves a program, pkg-config finds
# the library, and make uninstall leaves nothing.
set -eu

cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() {
    echo "$*"
    exit 1
}

# Into a staging folder: the paths inside must not know of it.
make -s install PREFIX=/opt/capstan DESTDIR="$work/stage"
stage=$work/stage/opt/capstan
for file in bin/capstan lib/capstan/libgomp.so.1.0.0 lib/capstan/libgomp.so.1 \
    lib/capstan/libcapstan-rts.so lib/capstan/libcapstan-adopt.so include/capstan.h lib/pkgconfig/capstan.pc \
    share/man/man1/capstan.1 share/bash-completion/completions/capstan; do
    [ -s "$stage/$file" ] || fail "$file was not installed"
done
if grep -r -l -I "$work" "$stage"; then fail 'the staging folder is named in a file'; fi
make -s uninstall PREFIX=/opt/capstan DESTDIR="$work/stage"
left=$(find "$work/stage" -type f -o -type l)
[ -z "$left" ] || fail "left behind: $left"

# The C library alone, without the command.
make -s install-lib PREFIX=/opt/capstan DESTDIR="$work/stage"
for file in lib/capstan/libgomp.so.1 lib/capstan/libomp.so.5 include/capstan.h lib/pkgconfig/capstan.pc; do
    [ -s "$stage/$file" ] || fail "install-lib did not install $file"
done
[ ! -e "$stage/lib/capstan/libcapstan-rts.so" ] || fail "install-lib installed GHC's substrate"
rm -r "$stage"

# In earnest: far from the build folder, the command finds its libraries.
make -s install PREFIX="$work/prefix"
cat >"$work/team.c" <<'END'
#include <omp.h>
#include <stdio.h>
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += omp_get_thread_num();
    printf("%d\n", sum);
}
END
gcc -O2 -fopenmp "$work/team.c" -o "$work/team"
for substrate in pthread rts; do
    result=$(CAPSTAN_REPORT=fd:3 "$work/prefix/bin/capstan" run --substrate $substrate -- \
        "$work/team" 3>"$work/report")
    [ "$result" = 3 ] || fail "on $substrate the program printed $result"
    grep -q "\"substrate\":\"$substrate\"" "$work/report" || fail "report: $(cat "$work/report")"
    grep -q "$work/prefix/lib/capstan" "$work/report" || fail "library: $(cat "$work/report")"
done

# A C program that uses capstan.h and finds the library by pkg-config.
cat >"$work/version.c" <<'END'
#include <capstan.h>
#include <stdio.h>
int main(void) {
    puts(CAPSTAN_VERSION);
    return capstan_clock() == 0;
}
END
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
# shellcheck disable=SC2046 # several flags
gcc $(pkg-config --cflags capstan) "$work/version.c" -o "$work/version" \
    $(pkg-config --libs capstan)
[ "$("$work/version")" = "$(pkg-config --modversion capstan)" ] || fail 'versions differ'
ldd "$work/version" | grep -q "$work/prefix/lib/capstan/libgomp.so.1" || fail "$(ldd "$work/version")"
"$work/prefix/bin/capstan" --version | grep -q -F "$(pkg-config --modversion capstan)"

# The man page says something about every subcommand and option.
page=$work/prefix/share/man/man1/capstan.1
for word in $("$work/prefix/bin/capstan" --help | sed -n '/commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    grep -q "^\.SS $word" "$page" || fail "the man page has no section on $word"
    for option in $("$work/prefix/bin/capstan" "$word" --help | grep -o -E -- '--[a-z][a-z-]*' |
        sort -u); do
        grep -q -F -- "$(printf '%s' "$option" | sed 's/-/\\-/g')" "$page" ||
            fail "the man page does not tell of $word $option"
    done
done

# A relative folder would lie below the source folder.
! make -s install PREFIX=relative >"$work/out" 2>&1 || fail 'a relative PREFIX was accepted'
grep -q 'PREFIX must be an absolute path, not "relative"' "$work/out" || fail "$(cat "$work/out")"
[ ! -e relative ] || fail 'something was installed below the source folder'
