#!/bin/sh
# A program for tasty-bench becomes one for Capstan.Bench.Tasty by its import alone: a tree of two tests and
# three benchmarks. Its package depends on capstan-bench and nothing else of ours, and gets no OpenMP runtime.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-bench-tasty.XXXXXX")
trap 'rm -rf "$work"' EXIT
has() {
    ghc-pkg list --simple-output "$1" 2>/dev/null | grep -q "$1"
}
if ! has criterion || ! has tasty-hunit; then
    echo 'criterion or tasty-hunit is not installed'
    exit 77
fi
mkdir -p "$work/new" "$work/old" "$work/trees" "$work/page"

cd "$work"
# WORK is the number of additions in one benchmark: a later run makes it slower.
cat >new/Main.hs <<'END'
import Capstan.Bench.Tasty
import System.Environment (lookupEnv)
import Test.Tasty.HUnit (testCase, (@?=))

main :: IO ()
main = do
  size <- maybe 1000 read <$> lookupEnv "WORK"
  broken <- maybe False read <$> lookupEnv "BROKEN"
  defaultMain
    [ testCase "addition" (1 + 1 @?= (2 :: Int)),
      bgroup "sum" [bench "short" (whnf (\n -> sum [1 .. n]) (size :: Int)), bcompare "short" (bench "long" (nf (\n -> sum [1 .. n]) (20000 :: Int)))],
      env (pure [1 .. 100 :: Int]) (\list -> bench "reverse" (nfIO (if broken then fail "planted" else pure (reverse list)))),
      testCase "order" (max 1 2 @?= (2 :: Int))
    ]
END
sed 's/^import Capstan.Bench.Tasty$/import Test.Tasty.Bench/' new/Main.hs >old/Main.hs
# A program of tasty's own, with a resource of tasty, benchmarks of Capstan.Bench, and one without the ingredient.
cat >trees/Main.hs <<'END'
import Capstan.Bench.Tasty (bench, benchIngredients, benchmarks, envWithCleanup, whnf, whnfIO)
import qualified Capstan.Bench as Bench
import Control.Concurrent (threadDelay)
import Control.Exception (bracket_)
import System.Directory (createDirectory, doesDirectoryExist, removeDirectory)
import System.Environment (lookupEnv)
import Test.Tasty
import Test.Tasty.HUnit (testCase, (@?=))

main :: IO ()
main = do
  tree <- maybe "whole" id <$> lookupEnv "TREE"
  case tree of
    "bare" -> defaultMain (bench "bare" (whnf not True))
    "twice" -> run (testGroup "twice" [bench "same" (whnf not True), bench "same" (whnf not True)])
    _ -> run whole
  where
    run = defaultMainWithIngredients benchIngredients

whole :: TestTree
whole =
  testGroup
    "whole"
    [ withResource (pure 'x') (const (pure ())) (\get -> bench "resource" (whnfIO get)),
      benchmarks "moved" [Bench.bgroup "inner" [Bench.env (pure "text") (Bench.bench "length" . Bench.nf length)]],
      envWithCleanup (createDirectory "held") (const (removeDirectory "held")) (const (testGroup "held" [bench "there" (whnfIO (doesDirectoryExist "held" >>= (@?= True)))])),
      testGroup "lonely" [bench name (whnfIO (bracket_ (createDirectory "lonely") (removeDirectory "lonely") (threadDelay 100))) | name <- ["a", "b"]],
      bench "slow" (whnfIO (threadDelay 3000000)),
      testCase "test" (pure ())
    ]
END
cat >user.cabal <<'END'
cabal-version: 3.0
name:          user
version:       0
build-type:    Simple

common program
  default-language: Haskell2010
  ghc-options:      -threaded -Wall
  build-depends:    base, capstan-bench, directory, tasty, tasty-hunit

executable new
  import:         program
  hs-source-dirs: new
  main-is:        Main.hs

executable trees
  import:         program
  hs-source-dirs: trees
  main-is:        Main.hs

executable page
  import:         program
  hs-source-dirs: page
  main-is:        Main.hs
END
# The example of the module's page is a program.
sed -n '/^-- > import/,/^-- >     \]/s/^-- > \{0,1\}//p' "$root/src-bench/Capstan/Bench/Tasty.hs" >page/Main.hs
cabal_project
build_user new trees page
new=$(user_program new)
trees=$(user_program trees)
page=$(user_program page)
packages=$(find "$root/build/cabal/user/packagedb" -mindepth 1 -maxdepth 1)
exposed=$(ghc-pkg --package-db="$packages" --simple-output field capstan-bench exposed-modules | tr -d ',')
[ "$exposed" = 'Capstan.Bench Capstan.Bench.Tasty' ] || fail "capstan-bench exposes $exposed"
! nm "$new" | grep -q -E ' T (GOMP|omp|__kmpc)_' || fail 'it has an OpenMP runtime'

# runs STATUS PROGRAM OPTION...: the program ends with this status. Its output is in the file text.
runs() {
    wanted=$1
    shift
    status=0
    "$@" --color never >text 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: exit status $status: $(cat text)"
}
# says PATTERN: the latest program said so.
says() {
    grep -q -E "$1" text || fail "it does not say $1: $(cat text)"
}
quick='--rounds 2 --time-limit 0.2'

runs 0 "$new" --list-tests
[ "$(cat text)" = 'All.addition
All.sum.short
All.sum.long
All.reverse
All.order' ] || fail "it lists $(cat text)"

# Figures, a comparison, and the files.
# shellcheck disable=SC2086 # options
runs 0 "$new" $quick -j 4 --json before.json --csv figures.csv
says 'All 5 tests passed'
[ "$(grep -c -E '^ +[0-9.]+ .?s +\([0-9.]+ .?s +\.\. [0-9.]+ .?s *\), in single processes' text)" -eq 3 ] || fail "not three figures: $(cat text)"
says '[0-9.]+ times All.sum.short \([0-9.]+ \.\. [0-9.]+\)'
[ "$(cut -d, -f1 figures.csv | tr '\n' ' ')" = 'Name All.sum.short All.sum.long All.reverse ' ] || fail "$(cat figures.csv)"

# shellcheck disable=SC2086 # options
runs 0 "$new" $quick -p reverse
says 'All 1 tests passed'
# A comparison with a benchmark that was not chosen.
# shellcheck disable=SC2086 # options
runs 0 "$new" $quick -p long
says 'not compared'

# The tests that run beside a benchmark that throws pass.
# shellcheck disable=SC2086 # options
runs 1 env BROKEN=True "$new" $quick
says 'All.reverse: the process failed'
says 'planted'
says '1 out of 5 tests failed'

# Of a regression one benchmark fails, whatever the noise of the others.
# shellcheck disable=SC2086 # options
runs 1 env WORK=100000 "$new" $quick --baseline before.json --tolerance 400
says 'All.sum.short: .* -> .* SLOWER'
says '1 out of 5 tests failed'
# shellcheck disable=SC2086 # options
runs 0 "$new" $quick --baseline before.json --tolerance 1000
runs 1 "$new" --baseline nowhere.json
says 'Error: nowhere.json'
runs 1 "$new" --json nowhere/after.json
says 'Error: nowhere/after.json: there is no such folder'
runs 1 "$new" --rounds 0
says 'rounds'

# Resources of the tree reach the processes; no two benchmarks run at a time.
# shellcheck disable=SC2086 # options
runs 0 "$trees" $quick -j 8 -p '!/slow/' --json trees.json
says 'All 6 tests passed'
[ ! -e held ] || fail 'an environment was not cleaned'
runs 1 "$trees" -p slow --timeout 2s
says 'Timed out'
sleep 1
! readlink /proc/[0-9]*/exe | grep -q -x "$trees" || fail 'a process outlives its time-out'
runs 1 env TREE=twice "$trees"
says 'twice.same: two benchmarks have this path'
runs 1 env TREE=bare "$trees"
says 'measuring'

# shellcheck disable=SC2086 # options
runs 0 "$page" $quick
says 'All 4 tests passed'

# The same program by the original, where it is installed.
if has tasty-bench; then
    ghc -v0 -threaded -outputdir old old/Main.hs -o old/program || fail 'the original does not build'
    [ "$(old/program --list-tests)" = "$("$new" --list-tests)" ] || fail 'the original lists other benchmarks'
fi
