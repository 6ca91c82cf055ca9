{-# LANGUAGE BangPatterns #-}

-- | The cost of a task, beside sparks, threads and the tasks of monad-par.
module Costs (costs) where

import Bench
import Capstan.Task
import qualified Control.Concurrent.Async as Async
import Control.Monad (replicateM, when, (<$!>))
import Control.Monad.Par (Par, get, runPar, spawn)
import Control.Parallel (par, pseq)
import Data.Word (Word64)
import Example (loop)
import Fib
import GHC.Stats (GCDetails (..), RTSStats (..), getRTSStats)
import Measure
import System.Mem (performMajorGC)

costs :: Arguments -> IO ()
costs a = do
  perTask a 32 [("pure", evaluateOf (fibTasks 2)), ("sparks", evaluateOf (sparks 2)), ("io", fibTasksIO 2)]
  -- 3.5 million threads, or the closures of as many monad-par tasks, would need gigabytes.
  perTask a 22 [("async", threads), ("monad-par", evaluateOf parTasks)]
  speedUp a "fib-42-cutoff-20" (pure (evaluateOf fib 42 >>= checkFibonacci 42)) (pure (evaluateOf (fibTasks 20) 42 >>= checkFibonacci 42))
  report
    a
    "ms"
    inMilliseconds
    [ Measured "fib-42-cutoff-20-sparks" (pure (evaluateOf (sparks 20) 42 >>= checkFibonacci 42)),
      Measured "fib-42-cutoff-20-io" (pure (fibTasksIO 20 42 >>= checkFibonacci 42))
    ]
  report a "ns" (1 / fromIntegral iterations) [Measured "parallel-for-empty" (pure (parallelFor (chunk 1 (range 0 iterations)) (\ !_ -> pure ())))]
  -- On one Capability this is the cost of looking for other members' needs, beside indices of a
  -- microsecond.
  speedUps
    a
    "grain-1us"
    (pure (loop 0 grains grain))
    [ Measured "grain-1us" (pure (parallelFor (range 0 grains) grain)),
      Measured "grain-1us-chunk-1" (pure (parallelFor (chunk 1 (range 0 grains)) grain))
    ]
    []
  when (wanted a "alive-bytes") alive
  where
    grains = 20000 :: Int
    iterations = 1000000 :: Int

-- | Computes for a little more than a microsecond: a thousand multiplications, one after another.
grain :: Int -> IO ()
grain i = when (go (1000 :: Int) i == 0) (putStrLn "zero")
  where
    go 0 !x = x
    go k x = go (k - 1) (x * 6364136223846793005 + 1442695040888963407)
{-# NOINLINE grain #-}

-- | fib without a cut-off has a task for each addition.
perTask :: Arguments -> Int -> [(String, Int -> IO Int)] -> IO ()
perTask a n versions =
  report a "ns" (1 / fromIntegral (fibonacci (n + 1) - 1)) [Measured ("fib-32-" ++ name) (pure (version n >>= checkFibonacci n)) | (name, version) <- versions]

sparks :: Int -> Int -> Int
sparks cutOff n
  | n < max 2 cutOff = fib n
  | otherwise = right `par` (left `pseq` left + right)
  where
    left = sparks cutOff (n - 1)
    right = sparks cutOff (n - 2)

threads :: Int -> IO Int
threads n
  | n < 2 = pure n
  | otherwise = Async.withAsync (threads (n - 2)) $ \right -> do
    left <- threads (n - 1)
    (left +) <$!> Async.wait right

parTasks :: Int -> Int
parTasks count = runPar (go count)
  where
    go :: Int -> Par Int
    go n
      | n < 2 = pure n
      | otherwise = do
        right <- spawn (go (n - 2))
        left <- go (n - 1)
        (left +) <$!> get right

-- | The bytes for each of a million tasks that were made and not yet awaited.
alive :: IO ()
alive = do
  before <- live
  bytes <- run $ \scope -> do
    promises <- replicateM count (async scope (pure ()))
    after <- live
    mapM_ await promises
    pure (after - before)
  emit "alive-bytes" "bytes" (fromIntegral bytes / fromIntegral count)
  where
    count = 1000000 :: Int

-- | The live bytes, including stacks. The function needs the collector's statistics (+RTS -T).
live :: IO Word64
live = performMajorGC >> gcdetails_live_bytes . gc <$> getRTSStats
