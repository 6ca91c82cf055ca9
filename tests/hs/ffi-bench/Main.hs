-- | Capstan.Bench and Capstan.Binding. The program is its own benchmark program: sessions start it again.
module Main (main) where

import qualified BindingTests
import Capstan.Bench.Child (perform, taskVariable)
import Capstan.Binding (withArena)
import qualified DiagnoseTests
import Seeded (benchmarks, blockBytes)
import qualified SessionTests
import System.Environment (lookupEnv, unsetEnv)
import Test.Tasty
import qualified TreeTests

main :: IO ()
main = do
  task <- lookupEnv taskVariable
  case task of
    Just file -> unsetEnv taskVariable >> withArena blockBytes (perform file . benchmarks)
    Nothing -> defaultMain (testGroup "bench" [DiagnoseTests.tests, TreeTests.tests, BindingTests.tests, SessionTests.tests])
