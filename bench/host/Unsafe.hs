-- | Regions that unsafe calls open, as in bindings of numerical libraries, alone and while one
-- Haskell thread allocates. Each collection waits for the call to return, and then needs both
-- processors. A worker that still spins for the next region keeps its processor busy.
module Unsafe (unsafe) where

import Bench
import Control.Concurrent
import Control.Monad (forM_, forever, replicateM, replicateM_, when)
import Mixed (allocate)
import Region (work)

unsafe :: Arguments -> IO ()
unsafe a = do
  measure a "unsafe-alone" 0
  measure a "unsafe-beside-allocating" 1

measure :: Arguments -> String -> Int -> IO ()
measure a name beside = when (wanted a name) $ do
  others <- replicateM beside (forkIO (forever (allocate 10)))
  n <- growUntil (argSampleTime a) (\n -> timed (replicateM_ n (work (argThreads a))))
  values <- replicateM (argSamples a) (timed (replicateM_ n (work (argThreads a))))
  forM_ others killThread
  emit name "ns" (median values / fromIntegral n)
