#!/bin/sh
# The public modules can be imported together and unqualified: no two of them mean different things by a name. Only those are left out
# whose first comment says that they are meant to be imported qualified, or in place of another module.
set -eu
cd "$(dirname "$0")/../.."
out=build/tests/imports
rm -rf "$out"
mkdir -p "$out"

public=$(sed -n '/begin library/,/c-sources/{/other-modules/,/^$/!p}' capstan.cabal | grep -o 'Capstan[A-Za-z.]*')

# apart MODULE: whether its first comment says so.
apart() {
    sed '/^module /q; s/^-- *//' src*/"$(echo "$1" | tr . /).hs" | tr '\n' ' ' |
        grep -qE 'is meant to be imported (qualified|in place of)'
}

# compile FILE MODULES: a module that exports all that these do. GHC refuses two meanings of a name.
compile() {
    file=$out/$1.hs
    shift
    {
        echo '{-# OPTIONS_GHC -Wno-unused-imports #-}'
        echo 'module Main ('
        printf 'module %s, ' "$@"
        echo 'main) where'
        printf 'import %s\n' "$@"
        echo 'main :: IO ()'
        echo 'main = pure ()'
    } >"$file"
    ghc -v0 -fno-code -XHaskell2010 -isrc -isrc-task -optP-Iruntime "-optP-Iruntime/platform/$(uname -m)" -outputdir "$out" "$file"
}

together=
for module in $public; do
    apart "$module" || together="$together $module"
done
# shellcheck disable=SC2086 # a list
set -- $together
test $# -ge 9 || { echo "only these are imported together: $*"; exit 1; }
compile Together "$@"

# What would be refused is: two modules with a `run` each.
if compile Apart Capstan.Task Capstan.Batch 2>"$out/refused.txt"; then
    echo 'two meanings of run were not noticed'
    exit 1
fi
grep -q 'Conflicting exports for .run' "$out/refused.txt"
