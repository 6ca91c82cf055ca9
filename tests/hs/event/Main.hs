-- | Tests of "Capstan.Event" and "Capstan.Event.Compat".
module Main (main) where

import qualified CompatTests
import qualified DescriptorTests
import qualified ManagerTests
import qualified TargetTests
import Test.Tasty (defaultMain, localOption, mkTimeout, testGroup)
import Test.Tasty.Runners (NumThreads (..))
import qualified TimerTests

main :: IO ()
main =
  -- One after another: they look at what is left in the managers, and one forks.
  defaultMain . localOption (NumThreads 1) . localOption (mkTimeout 30000000) $
    testGroup
      "events"
      [ DescriptorTests.tests,
        TimerTests.tests,
        TargetTests.tests,
        ManagerTests.tests,
        CompatTests.tests
      ]
