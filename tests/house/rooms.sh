#!/bin/sh
# tools/check-layers refuses an import of the Haskell library that points up, a module without a room, and a table of
# rooms with a circle; and it finds no fault with the library as it is.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-rooms.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A copy of what the tool reads, each time anew.
fresh() {
    rm -rf "$work/copy"
    mkdir "$work/copy" "$work/copy/tools"
    cp -r "$root/runtime" "$root/src" "$root/src-task" "$work/copy/"
    cp "$root/tools/check-layers" "$work/copy/tools/"
}

# refuses TEXT: the tool finds exactly one fault, and these words are in it.
refuses() {
    if "$work/copy/tools/check-layers" >"$work/said"; then
        echo "nothing was refused where it should say: $1"
        exit 1
    fi
    if [ "$(wc -l <"$work/said")" -ne 1 ] || ! grep -q -F "$1" "$work/said"; then
        echo "it does not say: $1"
        cat "$work/said"
        exit 1
    fi
}

fresh
"$work/copy/tools/check-layers" >/dev/null

echo 'import Capstan.Task.Pool (Pool)' >>"$work/copy/src-task/Capstan/Task/Work/Deque.hs"
refuses 'Task.Work may not import Task.Pool'

fresh
echo 'import qualified Capstan.Task.Work.Deque as Deque' >>"$work/copy/src-task/Capstan/Domain.hs"
refuses 'Domain may not import Task.Work'

fresh
echo 'import {-# SOURCE #-} Capstan.Task' >>"$work/copy/src-task/Capstan/Task/Join/Fork.hs"
refuses 'Task.Join may not import Task'

fresh
mkdir "$work/copy/src/Capstan/Cellar"
echo 'module Capstan.Cellar.Wine where' >"$work/copy/src/Capstan/Cellar/Wine.hs"
refuses 'src/Capstan/Cellar/Wine.hs:1: this module is in no room'

fresh
sed -i 's/^    "Capability": set(),/    "Capability": {"Domain"},/' "$work/copy/tools/check-layers"
if "$work/copy/tools/check-layers" >"$work/said" || ! grep -q 'has Capability below itself' "$work/said"; then
    echo 'a circle in the table was not refused'
    exit 1
fi
