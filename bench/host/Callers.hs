-- | Regions from the main thread, which is bound, and from green threads, which are not. The cost
-- must be the same. Figures are nanoseconds per region, with its foreign call, over all callers.
module Callers (callers) where

import Bench
import Control.Concurrent
import Control.Monad (forM_, replicateM, replicateM_, when)
import Region (region)

callers :: Arguments -> IO ()
callers a = do
  measure a "bound" 1 (\n -> timed (replicateM_ n (region (argThreads a))))
  measure a "green-1" 1 (together a 1)
  measure a "green-8" 8 (together a 8)

measure :: Arguments -> String -> Int -> (Int -> IO Double) -> IO ()
measure a name count action = when (wanted a name) $ do
  n <- growUntil (argSampleTime a) action
  values <- replicateM (argSamples a) (action n)
  emit name "ns" (median values / fromIntegral (n * count))

-- | A number of green threads, each of which opens @n@ regions.
together :: Arguments -> Int -> Int -> IO Double
together a count n = timed $ do
  done <- newEmptyMVar
  forM_ [1 .. count] . const . forkIO $ replicateM_ n (region (argThreads a)) >> putMVar done ()
  replicateM_ count (takeMVar done)
