#!/bin/sh
# A program without C depends on capstan-task alone: it runs tasks, a parallel loop and a channel, linked statically and
# dynamically, and has no name of OpenMP. A program that depends on capstan finds the same modules there.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-task-user.XXXXXX")
trap 'rm -rf "$work"' EXIT

cd "$work"
cat >Main.hs <<'END'
module Main (main) where

import Capstan.Capability (capabilityNumber)
import qualified Capstan.Chan as Chan
import Capstan.Exception (InvalidArgument)
import Capstan.Task
import qualified Capstan.Vector as Parallel
import Control.Exception (try)
import Data.IORef (atomicModifyIORef', newIORef, readIORef)
import qualified Data.Vector.Unboxed as Unboxed

fib :: Int -> IO Int
fib n
  | n < 2 = pure n
  | otherwise = uncurry (+) <$> both (fib (n - 1)) (fib (n - 2))

main :: IO ()
main = do
  tree <- fib 20
  total <- newIORef (0 :: Int)
  parallelFor (range 0 1000) (\i -> atomicModifyIORef' total (\sum' -> (sum' + i, ())))
  looped <- readIORef total
  let squares = Parallel.generate 1000 (\i -> i * i) :: Unboxed.Vector Int
  chan <- Chan.newUnbounded
  received <- snd <$> both (mapM_ (Chan.send chan) [1 .. 100 :: Int]) (sum <$> mapM (const (Chan.recv chan)) [1 .. 100 :: Int])
  refused <- try (Chan.newBounded (-1) :: IO (Chan.Chan Int))
  here <- capabilityNumber
  print (tree, looped, Unboxed.sum squares, received, either (const True :: InvalidArgument -> Bool) (const False) refused, here >= 0)
END
cat >user.cabal <<'END'
cabal-version: 3.0
name:          user
version:       0
build-type:    Simple

common program
  default-language: Haskell2010
  ghc-options:      -threaded -rtsopts "-with-rtsopts=-N2"
  build-depends:    base, vector

executable tasks
  import:        program
  main-is:       Main.hs
  build-depends: capstan-task

executable dynamic
  import:        program
  main-is:       Main.hs
  ghc-options:   -dynamic
  build-depends: capstan-task

executable whole
  import:        program
  main-is:       Main.hs
  build-depends: capstan
END
cabal_project
build_user tasks dynamic whole
for program in tasks dynamic whole; do
    binary=$(user_program "$program")
    answer=$("$binary")
    [ "$answer" = '(6765,499500,332833500,5050,True,True)' ] || fail "$program prints $answer"
    names=$(nm "$binary" | grep -c -E ' T (GOMP_parallel|omp_get_max_threads|__kmpc_fork_call)$' || :)
    case $program in
        whole) [ "$names" -eq 3 ] || fail 'the program with capstan has no OpenMP runtime' ;;
        *) [ "$names" -eq 0 ] || fail "$program has names of OpenMP" ;;
    esac
done
