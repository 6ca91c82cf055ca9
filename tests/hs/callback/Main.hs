-- | Tests of "Capstan.Callback". Without arguments all tests run; callback.sh runs them under other
-- runtime systems and settings. With the argument @ends@ it is the program that callback.sh checks.
module Main (main) where

import qualified AsynchronousTests
import Check (runTests)
import qualified Ending
import qualified EvaluationTests
import qualified ExampleTests
import qualified ExceptionTests
import qualified OpenMPTests
import qualified RegionTests
import qualified SharingTests
import System.Environment (getArgs)

main :: IO ()
main = do
  arguments <- getArgs
  if arguments == ["ends"] then Ending.program else tests

tests :: IO ()
tests =
  runTests $
    EvaluationTests.tests
      ++ RegionTests.tests
      ++ ExceptionTests.tests
      ++ AsynchronousTests.tests
      ++ SharingTests.tests
      ++ OpenMPTests.tests
      ++ ExampleTests.tests
