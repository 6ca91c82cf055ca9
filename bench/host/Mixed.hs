-- | Regions while Haskell threads compute or allocate.
--
-- Four figures compare a time with the ideal: the time of the whole work, spread over all cores. In
-- "total-over-ideal" two Haskell threads do a fixed amount of work while a third opens a fixed
-- number of regions. "even-over-ideal" is the same work without a runtime, divided evenly by hand:
-- the machine's limit when all cores are busy. "calls-over-ideal" has plain safe calls in place of
-- regions, so it shows GHC alone. A thread that returns from such a call waits for a Capability
-- until another thread's slice ends. "apart-over-ideal" has the two computations at once, and then
-- the regions: it shows the loss because a region of some microseconds is less efficient than its
-- work by itself. The "region-" cases are the latency of single regions.
module Mixed (mixed, allocate) where

import Bench
import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forM_, forever, replicateM, replicateM_, void, when, zipWithM_)
import Data.Bits (shiftR, xor)
import qualified Data.List as List
import qualified Data.Map.Strict as Map
import Data.Word (Word64)
import Region (plain, region)

mixed :: Arguments -> IO ()
mixed a = do
  totals a "" compute
  totals a "-allocating" allocate
  latency a "alone" Nothing
  latency a "computing" (Just (compute 1000))
  latency a "allocating" (Just (allocate 10))

-- | The loop neither allocates nor calls, and takes about a nanosecond for each turn. GHC does not
-- inline it, as it would then compute the result for a constant once.
compute :: Int -> IO ()
compute n = void (evaluate (go (1000 * n) 1))
  where
    go :: Int -> Word64 -> Word64
    go 0 x = x
    go k x = go (k - 1) (let y = x * 6364136223846793005 + 1442695040888963407 in y `xor` (y `shiftR` 17))
{-# NOINLINE compute #-}

-- | Builds maps and drops them.
allocate :: Int -> IO ()
allocate n = forM_ [1 .. n] $ \i ->
  evaluate (Map.size (List.foldl' (\m k -> Map.insert ((k * 7919) `mod` 1009) (k + i) m) Map.empty [1 .. 400 :: Int]))

totals :: Arguments -> String -> (Int -> IO ()) -> IO ()
totals a suffix work = when (any (wanted a) names) $ do
  cores <- getNumCapabilities
  -- All parts have the same length, which is long compared with a time slice.
  n <- growUntil (argSampleTime a * 10) (timed . work)
  region (argThreads a)
  k <- growUntil (argSampleTime a * 10) (\k -> timed (replicateM_ k plain))
  values <- replicateM (argSamples a) (oneTotal a (work n) k cores)
  zipWithM_ (\name -> emit name "x" . median) names (List.transpose values)
  where
    names = map (++ "-over-ideal" ++ suffix) ["total", "calls", "even", "apart"]

-- | Each sample measures again the time of each part by itself, as the machine changes.
oneTotal :: Arguments -> IO () -> Int -> Int -> IO [Double]
oneTotal a work k cores = do
  workTime <- timed work
  plainTime <- timed (replicateM_ k plain)
  total <- together [(forkIO, work), (forkIO, work), (forkIO, regions)]
  calls <- together [(forkIO, work), (forkIO, work), (forkIO, replicateM_ k plain)]
  even' <- together [(forkOn c, work >> replicateM_ (k `div` 2) plain) | c <- [0, 1]]
  computing <- together [(forkOn c, work) | c <- [0, 1]]
  alone <- together [(forkIO, regions)]
  let ideal = (2 * workTime + plainTime) / fromIntegral cores
  pure (map (/ ideal) [total, calls, even', computing + alone])
  where
    regions = replicateM_ k (region (argThreads a))

-- | The time until all actions have ended.
together :: [(IO () -> IO ThreadId, IO ())] -> IO Double
together parts = timed $ do
  done <- newEmptyMVar
  forM_ parts $ \(fork, part) -> fork (part >> putMVar done ())
  replicateM_ (length parts) (takeMVar done)

latency :: Arguments -> String -> Maybe (IO ()) -> IO ()
latency a name beside = when (any (wanted a) names) $ do
  others <- maybe (pure []) (replicateM 2 . forkIO . forever) beside
  done <- newEmptyMVar
  _ <- forkIO (replicateM count (timed (region (argThreads a))) >>= putMVar done)
  values <- takeMVar done
  mapM_ killThread others
  emit p50 "ns" (median values)
  emit p99 "ns" (quantile 0.99 values)
  where
    names = [p50, p99]
    p50 = "region-p50-" ++ name
    p99 = "region-p99-" ++ name
    -- A region takes about 5 us alone, and some milliseconds at worst.
    count = max 200 (floor (argSampleTime a * fromIntegral (argSamples a) / 5000))
