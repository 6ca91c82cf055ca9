-- | Tests of "Capstan.Callback". Without arguments all of them; callback.sh runs them under other
-- runtime systems and settings.
module Main (main) where

import qualified AsynchronousTests
import Check (runTests)
import qualified EvaluationTests
import qualified ExampleTests
import qualified ExceptionTests
import qualified OpenMPTests
import qualified RegionTests
import qualified SharingTests

main :: IO ()
main =
  runTests $
    EvaluationTests.tests
      ++ RegionTests.tests
      ++ ExceptionTests.tests
      ++ AsynchronousTests.tests
      ++ SharingTests.tests
      ++ OpenMPTests.tests
      ++ ExampleTests.tests
