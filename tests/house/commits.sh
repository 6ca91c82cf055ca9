#!/bin/sh
# tools/check-commits accepts this project's commits and refuses a long subject and a message without a body.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-commits.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$root/tools/check-commits"
command -v git >/dev/null || exit 0
mkdir "$work/tools"
cp "$root/tools/check-commits" "$work/tools/"
cd "$work"
git init -q .
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a

# commit MESSAGE, then accepted or refused WORDS.
commit() { git commit -q --allow-empty -m "$1"; }
refused() {
    if tools/check-commits -1 >said; then
        echo "accepted: $(git log -1 --format=%s)"
        exit 1
    fi
    grep -q "$1" said || { cat said; exit 1; }
}
commit 'one: a subject

A body with the reason.'
tools/check-commits -1 | grep -qx '1 commits'
commit 'two: a subject'
refused 'no body'
commit "three: $(printf '%066d' 0)

A body."
refused 'has 73 characters'
