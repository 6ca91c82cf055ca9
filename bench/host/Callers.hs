-- | Regions from the main thread, which is bound, and from green threads, which are not. The cost
-- must be the same. Figures are nanoseconds per region, with its foreign call, over all callers. In
-- "unsafe-behind-a-lock" two green threads call as a numerical library's bindings do: by unsafe calls
-- that ask for the number of threads, spin for a lock, and open a region.
module Callers (callers) where

import Bench
import Control.Concurrent
import Control.Monad (forM_, replicateM, replicateM_, when)
import Region (locked, region)

callers :: Arguments -> IO ()
callers a = do
  measure a "bound" 1 (\n -> timed (replicateM_ n (region (argThreads a))))
  measure a "green-1" 1 (together 1 (region (argThreads a)))
  measure a "green-8" 8 (together 8 (region (argThreads a)))
  measure a "unsafe-behind-a-lock" 2 (together 2 locked)

measure :: Arguments -> String -> Int -> (Int -> IO Double) -> IO ()
measure a name count action = when (wanted a name) $ do
  n <- growUntil (argSampleTime a) action
  values <- replicateM (argSamples a) (action n)
  emit name "ns" (median values / fromIntegral (n * count))

-- | A number of green threads, each of which repeats the action @n@ times.
together :: Int -> IO () -> Int -> IO Double
together count action n = timed $ do
  done <- newEmptyMVar
  forM_ [1 .. count] . const . forkIO $ replicateM_ n action >> putMVar done ()
  replicateM_ count (takeMVar done)
