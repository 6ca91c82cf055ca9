#!/bin/sh
# A Haskell program says `build-depends: capstan` and nothing else, and a library that it loads
# later, linked by its maker with libgomp, binds to the runtime inside the program. Linked
# statically and dynamically.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-user.XXXXXX")
watched=
trap '[ -z "$watched" ] || kill "$watched"; rm -rf "$work"' EXIT

cd "$work"
cat >team.c <<'END'
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>
int team(void) {
    int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
        sum += omp_get_thread_num();
        if (getenv("LONG")) sleep(60);
#pragma omp barrier
#pragma omp critical
        sum += 10;
    }
    return sum;
}
END
gcc -O2 -fPIC -shared -fopenmp team.c -o libteam.so
readelf -d libteam.so | grep -q 'NEEDED.*libgomp' || fail 'the library should be linked with libgomp'

cat >Main.hs <<'END'
import Foreign
import Foreign.C

foreign import ccall "dlopen" openLibrary :: CString -> CInt -> IO (Ptr ())

foreign import ccall "dlsym" findSymbol :: Ptr () -> CString -> IO (FunPtr (IO CInt))

foreign import ccall safe "dynamic" call :: FunPtr (IO CInt) -> IO CInt

main :: IO ()
main = do
  library <- withCString "./libteam.so" (\name -> openLibrary name 2)
  team <- withCString "team" (findSymbol library)
  call team >>= print
END
cat >user.cabal <<'END'
cabal-version: 3.0
name:          user
version:       0
build-type:    Simple

executable user
  main-is:          Main.hs
  default-language: Haskell2010
  ghc-options:      -threaded
  build-depends:    base, capstan
END
cabal_project

without_stale_objects "$root/build/cabal/user"

# program FLAG: builds it and looks at what it does.
program() {
    cabal -v1 build exe:user "$1" --builddir="$root/build/cabal/user" >build.log 2>&1 || {
        cat build.log
        fail "it does not build $1"
    }
    user=$(cabal -v0 list-bin exe:user "$1" --builddir="$root/build/cabal/user")
    result=$(CAPSTAN_REPORT=fd:3 "$user" 3>report)
    [ "$result" = 33 ] || fail "$1 it printed $result, not 33"
    grep -q '"substrate":"rts"' report || fail "$1 report: $(cat report)"
    rm -f bindings.*
    LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/bindings" "$user" >/dev/null
    for name in GOMP_parallel GOMP_barrier GOMP_critical_start omp_get_thread_num; do
        grep "libteam.so.*symbol .$name'" bindings.* >binding || fail "$1 $name was not bound"
        ! grep -q 'to .*libgomp\.so\.1 ' binding || fail "$1 $(cat binding)"
    done
    watch_stripped "$1"
}

# `capstan top` finds the runtime in a program that strip(1) has made smaller.
watch_stripped() {
    [ -x "$root/build/bin/capstan" ] || return 0
    strip -o stripped "$user"
    LONG=1 ./stripped >/dev/null &
    watched=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        "$root/build/bin/capstan" top --once "$watched" >top 2>&1 || true
        ! grep -q 'region threads *3$' top || break
    done
    kill "$watched"
    watched=
    grep -q 'region threads *3$' top || fail "$1 capstan top: $(cat top)"
}

program --disable-executable-dynamic
# Under `capstan run` a library is loaded before the program, and reports, too: it has seen no region.
if [ -x "$root/build/bin/capstan" ]; then
    "$root/build/bin/capstan" run --report "$user" >/dev/null 2>summary || fail "capstan run: $(cat summary)"
    grep -q 'regions    1$' summary || fail "capstan run does not see the program's region: $(cat summary)"
fi
# The linker option kept and exported every name that the shared library has.
nm -D --defined-only "$user" | awk '{ print $3 }' | sort -u >exported
nm -D --defined-only "$root/build/lib/libgomp.so.1" | awk '{ sub(/@.*/, "", $3); print $3 }' |
    grep -E '^(GOMP|omp|capstan|__kmpc|kmpc?)_[a-z]' | grep -v '^__kmpc_atomic' | sort -u >expected
missing=$(comm -13 exported expected)
[ -z "$missing" ] || fail "not exported by the executable: $missing"
program --enable-executable-dynamic
