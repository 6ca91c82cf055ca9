-- | Regions while Haskell allocates and collects, and collections while a region is open.
--
-- "region-" is the time of single regions, in nanoseconds. "allocating" runs them beside one
-- Haskell thread that allocates, and leaves the number of threads to the runtime. "exact" runs
-- teams of all cores beside it, and "crowded" beside as many such threads as cores. "gc-pause-" is
-- the longest major collection of a live heap while C computes on all cores, in a region or on the
-- program's own threads.
module Latency (latency, serial) where

import Bench
import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad (forM, forM_, replicateM, void, when)
import Data.IORef (newIORef, readIORef, writeIORef)
import qualified Data.List as List
import qualified Data.Map.Strict as Map
import Data.Word (Word64)
import Foreign.C.Types (CInt (..))
import Foreign.Marshal.Array (allocaArray, peekArray)
import Foreign.Ptr (Ptr)
import System.Mem (performMajorGC)

foreign import ccall safe "calls_regions" regionTimes :: CInt -> CInt -> Ptr Double -> IO ()

foreign import ccall safe "calls_loops" loopTimes :: CInt -> Ptr Double -> IO ()

foreign import ccall safe "hold_region" holdRegion :: CInt -> IO Word64

foreign import ccall safe "hold_plain" holdPlain :: CInt -> IO Word64

foreign import ccall unsafe "hold_running" holdRunning :: IO CInt

foreign import ccall safe "hold_end" holdEnd :: IO ()

latency :: Arguments -> IO ()
latency a = do
  regions a "alone" everybody []
  loops a "alone" []
  loops a "allocating" [allocate]
  regions a "exact" everybody [allocate]
  regions a "collecting" everybody [const (performMajorGC >> threadDelay 2000)]
  regions a "crowded" everybody (allocate <$ [1 .. everybody])
  pauses a
  -- At the end, as the runtime may choose the sizes of all teams from here on.
  regions a "allocating" 0 [allocate]
  where
    everybody = argThreads a

-- | For a collector of one thread (@-qn1@), which wakes no thread on the region's cores.
serial :: Arguments -> IO ()
serial a = do
  regions a "alone-serial" (argThreads a) []
  regions a "allocating-serial" 0 [allocate]

-- | Builds a map and drops it. Each map differs, as the compiler would keep equal ones.
allocate :: Int -> IO ()
allocate seed = void (evaluate (Map.size (List.foldl' grow Map.empty [1 .. 4000 :: Int])))
  where
    grow m k = Map.insert ((k * 7919 + seed) `mod` 10007) k m

-- | Regions one after the other. With 0 threads the runtime chooses their number.
regions :: Arguments -> String -> CInt -> [Int -> IO ()] -> IO ()
regions a name threads = besides a ("region", name) (regionTimes threads)

loops :: Arguments -> String -> [Int -> IO ()] -> IO ()
loops a name = besides a ("loop", name) loopTimes

-- | Calls C from a green thread, and C times a number of repetitions. Beside it threads repeat an
-- action for ever, with the numbers 1, 2 and so on.
besides :: Arguments -> (String, String) -> (CInt -> Ptr Double -> IO ()) -> [Int -> IO ()] -> IO ()
besides a (what, name) call beside = when (any (wanted a) cases) $ do
  turns <- newIORef (0 :: Int)
  others <- forM beside $ \action -> forkIO (forM_ [1 ..] (\n -> action n >> writeIORef turns n))
  done <- newEmptyMVar
  start <- now
  _ <- forkIO . allocaArray count $ \places -> do
    call (fromIntegral count) places
    peekArray count places >>= putMVar done
  times <- takeMVar done
  taken <- subtract start <$> now
  made <- readIORef turns
  mapM_ killThread others
  emit p50 "ns" (median times)
  emit p99 "ns" (quantile 0.99 times)
  when (maps `elem` cases) $ emit maps "ns" (taken / fromIntegral (max 1 made))
  where
    p50 = what ++ "-p50-" ++ name
    p99 = what ++ "-p99-" ++ name
    maps = "maps-beside-" ++ what
    cases = [p50, p99] ++ [maps | name == "allocating"]
    -- A region takes a third of a millisecond alone.
    count = max 500 (floor (argSampleTime a * fromIntegral (argSamples a) / 10000))

pauses :: Arguments -> IO ()
pauses a = when (any (wanted a) ["gc-pause-region", "gc-pause-alone"]) $ do
  live <- evaluate (Map.fromList [(k, show k) | k <- [1 .. 50000 :: Int]])
  times <- replicateM (max 7 (argSamples a)) ((,) <$> longest holdRegion <*> longest holdPlain)
  _ <- evaluate (Map.size live)
  emit "gc-pause-region" "ns" (mean (map fst times))
  emit "gc-pause-alone" "ns" (mean (map snd times))
  where
    threads = argThreads a
    -- The longest pauses differ by some of the kernel's ticks, 4 ms of 20, so a median could fall
    -- on the next tick of either side.
    mean xs = sum xs / fromIntegral (length xs)
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
