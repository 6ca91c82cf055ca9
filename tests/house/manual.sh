#!/bin/sh
# The manual's pages do what they say: each is followed in a new folder, and what it shows is compared.
# test: timeout 1800
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
cd "$root"
without_stale_objects "$root/build/cabal/user"
tools/settings-page
tools/result-pages
tools/draw-picture --check docs/pictures/*.svg
tools/run-manual docs/start/*.md docs/use/*.md docs/how/waiting.md docs/contribute/*.md
