-- | Tests of Capstan.Bench and Capstan.Binding. The program is its own benchmark program: sessions
-- start it again.
module Main (main) where

import qualified BindingTests
import Capstan.Bench.Child (ownTask, perform)
import Capstan.Binding (withArena)
import Data.Maybe (fromMaybe)
import qualified DiagnoseTests
import Programs (programVariable, programs)
import qualified Programs
import Seeded (benchmarks, blockBytes)
import qualified SessionTests
import System.Environment (lookupEnv)
import Test.Tasty
import qualified TreeTests

main :: IO ()
main = do
  program <- lookupEnv programVariable
  fromMaybe ownTests (program >>= (`lookup` programs))

ownTests :: IO ()
ownTests = do
  task <- ownTask
  case task of
    Just t -> withArena blockBytes (perform t . benchmarks)
    Nothing -> defaultMain (testGroup "bench" [DiagnoseTests.tests, TreeTests.tests, BindingTests.tests, SessionTests.tests, Programs.tests])
