-- | Tests of "Capstan.Task" and "Capstan.Domain", each on as many Capabilities as the program starts with, and on two
-- and four if these are more. Their number goes up only, but for the last test.
module Main (main) where

import qualified CapabilityTests
import Control.Concurrent (getNumCapabilities, setNumCapabilities)
import qualified DomainTests
import qualified FailureTests
import qualified LoopTests
import qualified ModelTests
import qualified RegionTests
import qualified ScopeTests
import qualified StressTests
import Test.Tasty
import Test.Tasty.Runners (NumThreads (..))
import qualified VectorTests

main :: IO ()
main = do
  first <- getNumCapabilities
  -- One after another: they change the number of Capabilities.
  defaultMain . localOption (NumThreads 1) . localOption (mkTimeout 120000000) $
    testGroup "tasks" (ModelTests.tests : map on (first : filter (> first) [2, 4]) ++ [CapabilityTests.tests])

on :: Int -> TestTree
on n =
  withResource (setNumCapabilities n) pure . const $
    testGroup
      ("on " ++ show n)
      [ ScopeTests.tests,
        FailureTests.tests,
        LoopTests.tests,
        VectorTests.tests,
        DomainTests.tests,
        RegionTests.tests,
        StressTests.tests
      ]
