-- | What happens to tasks when the number of Capabilities changes. It does while nothing runs: GHC 9.0.2 by itself may
-- hang, without a task anywhere, where it changes while threads compute. What can happen then is explored by Model.Sleep
-- and Model.Deque.
module CapabilityTests (tests) where

import Capstan.Domain (capabilityNumber)
import Capstan.Task
import Control.Concurrent
import Control.Monad
import Data.IORef
import Data.List (nub)
import Data.Maybe (isJust)
import Fibonacci (fibonacci)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "Capabilities come and go"
    [ testCase (concat [show from, " to ", show to]) (setNumCapabilities to >> allTakePart to >> everywhere)
      | (from, to) <- zip numbers (drop 1 numbers)
    ]
  where
    numbers = [4, 5, 2, 1, 3] :: [Int]

-- | A loop without end, but that each Capability runs an index of it; the first use of tasks since they are there. The caller
-- may still be on one that is not in use any more, which does not count: else there could be too many, and no end.
allTakePart :: Int -> Assertion
allTakePart count = do
  seen <- newIORef []
  found <- parallelFind (chunk 1 (range 0 maxBound)) $ \i -> do
    n <- capabilityNumber
    places <- atomicModifyIORef' seen (\known -> let now = nub (n : known) in (now, now))
    pure (if length (filter (< count) places) == count then Just i else Nothing)
  assertBool "each" (isJust found)

-- | Each Capability, and some that there are not, starts tasks, and tasks that wait for tasks.
everywhere :: Assertion
everywhere = do
  results <- forM [0 .. 5] $ \n -> do
    result <- newEmptyMVar
    result <$ forkOn n (work >>= putMVar result)
  mapM takeMVar results >>= (@?= replicate 6 (replicate 10 377))
  where
    work = replicateM 10 $ do
      box <- newEmptyMVar
      -- The left branch waits for what the right one gives: a worker must find that.
      _ <- both (takeMVar box) (putMVar box ())
      run (`fibonacci` 14)
