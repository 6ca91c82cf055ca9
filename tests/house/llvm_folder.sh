#!/bin/sh
# The benchmarks have LLVM's code generator where the compiler takes the LLVM that is there without a word, and do
# without it where it fails or warns. Compilers are stand-ins.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-llvm-folder.XXXXXX")
trap 'rm -rf "$work"' EXIT

# expect FOLDER BODY: what is chosen for a compiler that does this.
expect() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/ghc"
    chmod +x "$work/ghc"
    found=$("$root/bench/haskell/llvm-folder" "$work/ghc")
    [ "$found" = "$1" ] || {
        echo "chose $found, not $1, where the compiler does: $2"
        exit 1
    }
    [ -f "$root/bench/haskell/$1/Llvm.hs" ]
}

expect with-llvm 'case " $* " in *" -fllvm "*) ;; *) exit 1 ;; esac'
expect without-llvm 'echo "could not execute: opt" >&2; exit 1'
expect without-llvm 'echo "You are using an unsupported version of LLVM!" >&2'
