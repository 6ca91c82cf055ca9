#!/bin/sh
# tools/check-prose reports sentences that had to be untangled, one by one, and passes what replaced them.
set -eu
cd "$(dirname "$0")/../.."
command -v hunspell >/dev/null || { echo "there is no hunspell"; exit 77; }

folder=$(mktemp -d "${TMPDIR:-/tmp}/capstan-prose.XXXXXX")
trap 'rm -rf "$folder"' EXIT
status=0
fail() {
    echo "$*"
    status=1
}

# A paragraph for each line, so that line N of the list is line 2N - 1 of the page.
sed G tests/house/prose/untangle.txt >"$folder/old.md"
tools/check-prose "$folder/old.md" | grep -v -e ': spelling: ' -e ': columns: ' >"$folder/found" || true
number=0
while IFS= read -r sentence; do
    number=$((number + 1))
    grep -q "^$folder/old.md:$((2 * number - 1)): " "$folder/found" || fail "not reported: $sentence"
done <tests/house/prose/untangle.txt

sed G tests/house/prose/plain.txt | fold -s -w 90 >"$folder/new.md"
tools/check-prose "$folder/new.md" >"$folder/found" || fail "plain sentences are reported: $(cat "$folder/found")"

# expect RULE FILE: the file, from standard input, is reported for this.
expect() {
    cat >"$folder/$2"
    if tools/check-prose "$folder/$2" >"$folder/found"; then
        fail "$2 passes; it should not, by the rule $1"
    elif ! grep -q ": $1: " "$folder/found" || grep -v ": $1: " "$folder/found"; then
        fail "$2 is not reported by the rule $1 alone: $(cat "$folder/found")"
    fi
}
expect dead-link link.md <<'END'
The page [about nothing](nothing.md) is missing.
END
expect dead-link heading.md <<'END'
# A page

The [second heading](#second) is missing.
END
expect spelling word.md <<'END'
The worker slepes in its dock.
END
expect columns wide.md <<'END'
The worker sleeps in its dock. The master wakes the worker. The worker runs the region. The region ends.
END
expect long long.md <<'END'
The worker sleeps in its dock until the master of its team opens another region
and wakes it by a store to the dock and then by a call of the kernel, which takes
most of the time of the region.
END
expect who-subject comment.c <<'END'
int number; /* Who waits reads this. */
END
expect who-subject line.c <<'END'
// The number of the region.
// Who waits reads this.
int number;
END
expect who-subject message.c <<'END'
void f(void) { cst_message("Who waits is not %s", "woken"); }
END
expect fragment Haddock.hs <<'END'
module Haddock where

-- | How it is.
state :: Int
state = 0
END
mkdir -p "$folder/app"
expect who-subject app/Help.hs <<'END'
module Help where

help :: String
help = "Who opens the region waits for it"
END

# Code is no prose.
cat >"$folder/Code.hs" <<'END'
module Code where

-- | The text @who waits@ of 'whoWaits', in <https://example.org/who-is it>.
code :: String
code = "-- Who waits"
END
tools/check-prose "$folder/Code.hs" || fail "code is read as prose"

# The project itself.
tools/check-prose >"$folder/found" || fail "$(cat "$folder/found")"
exit $status
