-- | Tests of "Capstan.Task" and "Capstan.Domain". Each runs on the program's first number of
-- Capabilities, and on two and four if these are more. The number only increases, except in the
-- last test.
module Main (main) where

import qualified AwaitTests
import qualified BoundTests
import qualified CapabilityTests
import qualified ConfinedTests
import Control.Concurrent (getNumCapabilities, setNumCapabilities)
import qualified DomainTests
import qualified DurationTests
import qualified FailureTests
import qualified ForkTests
import qualified GridTests
import qualified LaneTests
import qualified LoopTests
import qualified MaskTests
import qualified ModelTests
import qualified ParTests
import qualified ParallelVectorTests
import qualified PurityTests
import qualified RegionTests
import qualified RootTests
import qualified RuleTests
import qualified ScopeTests
import qualified SeededTests
import qualified StressTests
import qualified StrictTests
import System.Environment (getArgs, setEnv)
import Test.Tasty
import qualified TraverseTests
import qualified VectorTests

main :: IO ()
main = do
  arguments <- getArgs
  if arguments == ["--confined"] then ConfinedTests.inside else everywhere

everywhere :: IO ()
everywhere = do
  first <- getNumCapabilities
  -- The tests run one after another, as they change the number of Capabilities, and count. No
  -- option of a test group can say so.
  setEnv "TASTY_NUM_THREADS" "1"
  defaultMain . localOption (mkTimeout 120000000) $
    testGroup "tasks" (DurationTests.tests : ModelTests.tests : RuleTests.tests : RootTests.tests : ConfinedTests.tests : map (`on` everything) (first : filter (> first) [2, 4]) ++ [8 `on` [PurityTests.tests], CapabilityTests.tests])

-- | Tests on @n@ Capabilities.
on :: Int -> [TestTree] -> TestTree
on n = withResource (setNumCapabilities n) pure . const . testGroup ("on " ++ show n)

everything :: [TestTree]
everything =
  [ ScopeTests.tests,
    AwaitTests.tests,
    TraverseTests.tests,
    GridTests.tests,
    ParTests.tests,
    ParallelVectorTests.tests,
    StrictTests.tests,
    PurityTests.tests,
    FailureTests.tests,
    MaskTests.tests,
    LoopTests.tests,
    LaneTests.tests,
    BoundTests.tests,
    VectorTests.tests,
    DomainTests.tests,
    RegionTests.tests,
    SeededTests.tests,
    StressTests.tests,
    ForkTests.tests
  ]
