-- | Tests of "Capstan.Event" and "Capstan.Event.Compat".
module Main (main) where

import qualified CompatTests
import qualified DescriptorTests
import qualified ManagerTests
import qualified SlotTests
import System.Environment (setEnv)
import qualified TargetTests
import Test.Tasty (defaultMain, localOption, mkTimeout, testGroup)
import qualified TimerTests

main :: IO ()
main = do
  -- The tests run one after another, as they check the state of the managers, and one test forks.
  -- No option of a test group can say so.
  setEnv "TASTY_NUM_THREADS" "1"
  defaultMain . localOption (mkTimeout 30000000) $
    testGroup
      "events"
      [ DescriptorTests.tests,
        TimerTests.tests,
        TargetTests.tests,
        ManagerTests.tests,
        SlotTests.tests,
        CompatTests.tests
      ]
