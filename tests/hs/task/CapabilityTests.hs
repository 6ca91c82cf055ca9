-- | Tasks when the number of Capabilities changes. The number changes while nothing runs: GHC 9.0.2
-- itself may hang, without any task, if it changes while threads compute. Model.Sleep and
-- Model.Deque explore changes during a computation.
module CapabilityTests (tests) where

import Capstan.Domain (capabilityNumber)
import Capstan.Task
import Control.Concurrent
import Control.Monad
import Data.IORef
import Data.List (nub)
import Data.Maybe (isJust)
import Fibonacci (fibonacci)
import System.Mem (getAllocationCounter, setAllocationCounter)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "Capabilities come and go"
    ( [ testCase (concat [show from, " to ", show to]) (setNumCapabilities to >> allTakePart to >> everywhere)
        | (from, to) <- zip numbers (drop 1 numbers)
      ]
        ++ [ testCase "Capabilities younger than the scope" younger,
             testCase "memory for Capabilities that push nothing" unused
           ]
    )
  where
    numbers = [4, 5, 2, 1, 3] :: [Int]

-- | The scope waits for the tasks that are started on Capabilities which it did not know.
younger :: Assertion
younger = do
  setNumCapabilities 1
  done <- newIORef (0 :: Int)
  run $ \scope -> do
    setNumCapabilities 3
    boxes <- forM [0 .. 2] $ \n -> do
      box <- newEmptyMVar
      box <$ forkOn n (replicateM_ 1000 (async scope (atomicModifyIORef' done (\k -> (k + 1, ())))) >> putMVar box ())
    mapM_ takeMVar boxes
  readIORef done >>= (@?= 3000)

-- | A pool takes 4 KiB for each Capability, and 16 more for each that pushes.
unused :: Assertion
unused = do
  setAllocationCounter 0
  withPool "unused" 200 (const (pure ()))
  left <- getAllocationCounter
  assertBool (show (negate left) ++ " bytes") (negate left < 2500000)

-- | A loop that ends when each Capability has run an index of it; the first use of tasks on these
-- Capabilities. The caller may still be on a Capability that is no longer in use. Such a Capability
-- does not count: with one too many, the loop would not end.
allTakePart :: Int -> Assertion
allTakePart count = do
  seen <- newIORef []
  found <- parallelFind (chunk 1 (range 0 maxBound)) $ \i -> do
    n <- capabilityNumber
    places <- atomicModifyIORef' seen (\known -> let now = nub (n : known) in (now, now))
    pure (if length (filter (< count) places) == count then Just i else Nothing)
  assertBool "each" (isJust found)

-- | Each Capability starts tasks, and tasks that wait for tasks; some numbers name no Capability.
everywhere :: Assertion
everywhere = do
  results <- forM [0 .. 5] $ \n -> do
    result <- newEmptyMVar
    result <$ forkOn n (work >>= putMVar result)
  mapM takeMVar results >>= (@?= replicate 6 (replicate 10 377))
  where
    work = replicateM 10 $ do
      box <- newEmptyMVar
      -- The left branch waits for the value of the right one, so a worker must find the right one.
      _ <- both (takeMVar box) (putMVar box ())
      run (`fibonacci` 14)
