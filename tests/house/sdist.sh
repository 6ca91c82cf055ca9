#!/bin/sh
# The source archive holds every file of the project, and builds by make and by Cabal.
# test: long
# test: timeout 1800
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-sdist.XXXXXX")
trap 'rm -rf "$work"' EXIT
export CABAL_CONFIG="$root/tools/cabal.config" CABAL_DIR="$work/cabal"
mkdir "$CABAL_DIR"

# packed FOLDER NAME: the unpacked archive of the package in this folder.
packed() {
    (cd "$root/$1" && cabal -v0 sdist --builddir="$work/dist" --output-directory="$work")
    tar -xzf "$work/$2"-[0-9]*.tar.gz -C "$work"
    echo "$work/$2"-[0-9]*/
}
archive=$(packed . capstan)
cd "$root"

# What is kept out of it: git's own files.
if git rev-parse --git-dir >/dev/null 2>&1; then
    # A symbolic link is packed as the folder that it leads to.
    git ls-files -s | sed -n '/^120000/!s/^.*\t//p' | grep -v -E '^\.git(ignore|attributes)$' | sort >"$work/kept"
    (cd "$archive" && find . -type f | sed 's|^\./||' | sort) >"$work/packed"
    missing=$(comm -23 "$work/kept" "$work/packed")
    if [ -n "$missing" ]; then
        echo "not in the source archive:"
        echo "$missing"
        exit 1
    fi
fi

cd "$archive"
python3 tools/cabal-lists
make -j2
build/bin/capstan --version
cabal -v1 build all

# The packages beside it, each by itself; that of the command passes its tests.
for package in exports:capstan-exports src-bench:capstan-bench src-task:capstan-task; do
    cd "$(packed "${package%:*}" "${package#*:}")"
    cabal -v1 build all --builddir="$work/${package#*:}"
done
cd "$(packed app capstan-cli)"
cabal -v1 test --builddir="$work/capstan-cli"
