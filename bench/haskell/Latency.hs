-- | Regions while Haskell allocates and collects, and collections while a region is open.
--
-- "region-": how long single regions take, in nanoseconds. "allocating": beside one Haskell thread that
-- allocates, where the number of threads is left to the runtime; "crowded": teams of all cores beside as
-- many such threads. "gc-pause-": the longest major collection of a live heap while C computes on all
-- cores, in a region or on the program's own threads.
module Latency (latency, serial) where

import Bench
import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forever, replicateM, void, when)
import qualified Data.List as List
import qualified Data.Map.Strict as Map
import Data.Word (Word64)
import Foreign.C.Types (CInt (..))
import Foreign.Marshal.Array (allocaArray, peekArray)
import Foreign.Ptr (Ptr)
import System.Mem (performMajorGC)

foreign import ccall safe "calls_regions" regionTimes :: CInt -> CInt -> Ptr Double -> IO ()

foreign import ccall safe "hold_region" holdRegion :: CInt -> IO Word64

foreign import ccall safe "hold_plain" holdPlain :: CInt -> IO Word64

foreign import ccall unsafe "hold_running" holdRunning :: IO CInt

foreign import ccall safe "hold_end" holdEnd :: IO ()

latency :: Arguments -> IO ()
latency a = do
  regions a "alone" everybody []
  regions a "allocating" 0 [allocate]
  regions a "collecting" everybody [performMajorGC >> threadDelay 2000]
  regions a "crowded" everybody (allocate <$ [1 .. everybody])
  pauses a
  where
    everybody = argThreads a

-- | For a collector of one thread (@-qn1@): it wakes nobody on the region's cores.
serial :: Arguments -> IO ()
serial a = do
  regions a "alone-serial" (argThreads a) []
  regions a "allocating-serial" 0 [allocate]

-- | Builds maps and drops them, for ever. Each is another, or the compiler would keep one.
allocate :: IO ()
allocate = mapM_ build [1 ..]
  where
    build :: Int -> IO ()
    build seed = void (evaluate (Map.size (List.foldl' (grow seed) Map.empty [1 .. 4000 :: Int])))
    grow seed m k = Map.insert ((k * 7919 + seed) `mod` 10007) k m

-- | Regions one after the other, from a green thread, beside threads that do something for ever. 0
-- threads are as many as the runtime thinks right.
regions :: Arguments -> String -> CInt -> [IO ()] -> IO ()
regions a name threads beside = when (any (wanted a) [p50, p99]) $ do
  others <- mapM (forkIO . forever) beside
  done <- newEmptyMVar
  _ <- forkIO . allocaArray count $ \places -> do
    regionTimes threads (fromIntegral count) places
    peekArray count places >>= putMVar done
  times <- takeMVar done
  mapM_ killThread others
  emit p50 "ns" (median times)
  emit p99 "ns" (quantile 0.99 times)
  where
    p50 = "region-p50-" ++ name
    p99 = "region-p99-" ++ name
    -- A region takes a third of a millisecond alone.
    count = max 500 (floor (argSampleTime a * fromIntegral (argSamples a) / 10000))

pauses :: Arguments -> IO ()
pauses a = when (any (wanted a) ["gc-pause-region", "gc-pause-alone"]) $ do
  live <- evaluate (Map.fromList [(k, show k) | k <- [1 .. 50000 :: Int]])
  times <- replicateM (max 3 (argSamples a)) ((,) <$> longest holdRegion <*> longest holdPlain)
  _ <- evaluate (Map.size live)
  emit "gc-pause-region" "ns" (median (map fst times))
  emit "gc-pause-alone" "ns" (median (map snd times))
  where
    threads = argThreads a
    longest hold = do
      ended <- newEmptyMVar
      _ <- forkIO (hold threads >>= putMVar ended)
      awaitRunning
      times <- replicateM 30 (timed performMajorGC)
      holdEnd
      _ <- takeMVar ended
      pure (maximum times)
    awaitRunning = do
      n <- holdRunning
      when (n < threads) (yield >> awaitRunning)
