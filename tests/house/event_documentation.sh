#!/bin/sh
# Every example in the comments of capstan.h and in the documentation of Capstan.Event compiles.
set -eu
cd "$(dirname "$0")/../.."
out=build/tests/event-documentation
mkdir -p "$out"

# In capstan.h: lines of a comment that are indented by three blanks.
{
    printf '#include <capstan.h>\n#include <omp.h>\n'
    printf 'extern char buffer;\nvoid start(char);\ncapstan_fd_function on_readable;\n'
    awk '/^ \*   [^ ]/ || (inside && /^ \*    /) {
             if (!inside) printf "void example_%d(int fd, void *data) {\n(void)fd, (void)data;\n", ++count
             inside = 1
             print substr($0, 4)
             next
         }
         inside { print "}"; inside = 0 }
         END { if (count < 2) exit 1 }' runtime/include/capstan.h
} >"$out/examples.c"
gcc -std=gnu11 -fopenmp -Wall -Wextra -Werror -fsyntax-only -Iruntime/include "$out/examples.c"

# In Haskell: blocks of lines that begin with "-- >".
{
    printf '{-# LANGUAGE ScopedTypeVariables #-}\n{-# OPTIONS_GHC -Wno-unused-do-bind #-}\nmodule Examples where\n'
    printf 'import Capstan.Event\nimport Control.Concurrent.MVar\nimport Control.Monad (void)\nimport GHC.Conc (atomically, orElse, readTVar, retry)\nimport System.Posix.Types (Fd)\n'
    awk '/^-- > / {
             if (!inside) printf "example%d :: Manager -> Fd -> (Ready -> IO ()) -> IO ()\nexample%d manager fd serve = do\n", ++count, count
             inside = 1
             print "  " substr($0, 6)
             next
         }
         inside { print "  pure ()"; inside = 0 }
         END { if (count < 4) exit 1 }' src/Capstan/Event.hs src/Capstan/Event/Manager.hs src/Capstan/Event/Internal.hs
} >"$out/Examples.hs"
ghc -v0 -fno-code -XHaskell2010 -isrc -isrc-task -optP-Iruntime "-optP-Iruntime/platform/$(uname -m)" -outputdir "$out" \
    "$out/Examples.hs"
