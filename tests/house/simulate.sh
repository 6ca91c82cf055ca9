#!/bin/sh
# The model of larger machines is made of the runtime's sources, and counts what they do there.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
log=$(make -s -C "$root/bench" simulate 2>&1) || {
    echo "$log"
    exit 1
}
counted=$("$root/build/bench/bin/simulate" 8)
for path in fork-join barrier dispatch steal; do
    echo "$counted" | grep -q "^$path.ours.8.[1-9]" || {
        echo "no figure of $path:"
        echo "$counted"
        exit 1
    }
done
