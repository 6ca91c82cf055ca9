#!/bin/sh
# A program for Criterion.Main becomes one for Capstan.Bench by its import alone. Its package depends on
# capstan-bench and nothing else of ours, and gets no OpenMP runtime.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-bench-user.XXXXXX")
trap 'rm -rf "$work"' EXIT
if ! ghc-pkg list --simple-output criterion 2>/dev/null | grep -q criterion; then
    echo 'criterion is not installed'
    exit 77
fi
mkdir -p "$work/old" "$work/new"

cd "$work"
cat >old/Main.hs <<'END'
import Criterion.Main
import Criterion.Types (Config (..))

main :: IO ()
main =
  defaultMainWith
    defaultConfig {timeLimit = 0.2}
    [ bgroup "sum" [bench (show n) (whnf (\m -> sum [1 .. m]) n) | n <- [10, 1000 :: Int]],
      env (pure [1 .. 100 :: Int]) (bench "reverse" . nf reverse),
      envWithCleanup (pure ()) pure (const (bench "unit" (nfIO (pure ())))),
      bench "per batch" (perBatchEnv (const (pure 'x')) pure),
      bench "per run" (perRunEnv (pure 'x') pure),
      bench "application" (whnfAppIO pure 'x'),
      bench "loop" (toBenchmarkable (\n -> mapM_ pure [1 .. n]))
    ]
END
sed 's/^import Criterion.Main$/import Capstan.Bench/' old/Main.hs >new/Main.hs
cat >user.cabal <<'END'
cabal-version: 3.0
name:          user
version:       0
build-type:    Simple

executable old
  hs-source-dirs:   old
  main-is:          Main.hs
  default-language: Haskell2010
  build-depends:    base, criterion

executable new
  hs-source-dirs:   new
  main-is:          Main.hs
  default-language: Haskell2010
  build-depends:    base, criterion, capstan-bench
END
cabal_project
build_user old new
old=$(user_program old)
new=$(user_program new)
[ "$("$old" --list)" = "$("$new" --list)" ] || fail 'they list other benchmarks'
"$new" --rounds 1 --match pattern --csv figures.csv sum per >text || {
    cat text
    fail 'it fails'
}
[ "$(cut -d, -f1 figures.csv | tr '\n' ' ')" = 'Name sum/10 sum/1000 per batch per run ' ] || fail "$(cat figures.csv)"
! nm "$new" | grep -q -E ' T GOMP_parallel$' || fail 'it has an OpenMP runtime'
"$new" --iters 3 sum/10 >text || fail 'plain iterations fail'
