#!/bin/sh
# The check of layers finds an include that points upwards, between layers and between the rooms of
# core, a front end that includes more than the front, and one that looks into a thread.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-layers.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0

# plant NAME FILE LINE PATTERN: with LINE in FILE, status and output of the check match PATTERN.
plant() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/tools"
    cp -R "$root/runtime" "$root/src" "$work/tree"
    cp "$root/tools/check-layers" "$work/tree/tools"
    if [ -n "$2" ]; then printf '%s\n' "$3" >>"$work/tree/$2"; fi
    said=$("$work/tree/tools/check-layers" 2>&1)
    status=$?
    if echo "$status:$said" | grep -Eq "$4"; then
        echo "ok - $1"
    else
        echo "not ok - $1: status $status, $said"
        failed=1
    fi
}

plant "the tree as it is" "" "" "^0:"
plant "a layer above" runtime/platform/linux/clock.c '#include "core/front.h"' \
    "^1:.*clock.c:.*platform may not depend on core"
plant "a room above" runtime/core/wait/wait.c '#include "core/task/steal.h"' \
    "^1:.*wait.c:.*the room wait may not depend on task"
plant "state above settings" runtime/core/settings/place.c '#include "core/state/thread.h"' \
    "^1:.*place.c:.*the room settings may not depend on state"
plant "more than the front" runtime/abi/gomp/task.c '#include "core/task/task.h"' \
    "^1:.*gomp/task.c:.*nothing of core but core/front.h"
plant "more than the front, in other brackets" runtime/abi/gomp/task.c '#include <core/wait/park.h>' \
    "^1:.*gomp/task.c:.*nothing of core but core/front.h"
plant "a look into a thread" runtime/abi/gomp/sync.c 'int depth(void) { return cst_self()->team->level; }' \
    "^1:.*gomp/sync.c:.*a front end sees no fields of core"
plant "no such room" runtime/core/team/pool.c '#include "core/attic/pool.h"' \
    "^1:.*pool.c:.*is in no room of core"
exit $failed
