-- | Tests of Capstan.Bench. The program is its own benchmark program: sessions start it again.
module Main (main) where

import Capstan.Bench.Child (ownTask, perform)
import Data.Maybe (fromMaybe)
import qualified DiagnoseTests
import Foreign.Marshal.Alloc (allocaBytes)
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
    Just t -> allocaBytes blockBytes (\memory -> perform t (benchmarks ($ memory)))
    Nothing -> defaultMain (testGroup "bench" [DiagnoseTests.tests, TreeTests.tests, SessionTests.tests, Programs.tests])
