-- | Settings, questions and counts.
module OpenMPTests (tests) where

import CFunctions
import Capstan.Callback
import Capstan.OpenMP
import Check
import Control.Concurrent
import Control.Exception (ErrorCall (..), throwIO)
import Control.Monad (forM, forM_, unless, void)

tests :: [Test]
tests =
  [ test "withThreads" (forM_ [1, 3, 5] sized),
    test "settings of green threads" greenThreads,
    test "settings are restored" restored,
    test "settings are what was set" settings,
    test "settings in a callback" inCallback,
    test "questions" questions,
    test "statistics" counts,
    test "unsafe regions are counted" unsafeCounts,
    test "pause" paused
  ]

sized :: Int -> IO ()
sized n = withThreads n regionSize >>= equal "threads" (fromIntegral n)

-- | Each has its own, while others have theirs.
greenThreads :: IO ()
greenThreads = do
  ends <- forM [1 .. 8] $ \n -> do
    end <- newEmptyMVar
    _ <- forkIO (withThreads n (yield >> regionSize >>= \first -> yield >> (,) first <$> regionSize) >>= putMVar end)
    pure (n, end)
  forM_ ends $ \(n, end) ->
    takeMVar end >>= if rtsSupportsBoundThreads then equal "threads" (fromIntegral n, fromIntegral n) else const (pure ())

restored :: IO ()
restored = do
  before <- getSettings
  ErrorCall _ <- throws (withThreads 7 (withSettings defaults {dynamic = Just True, schedule = Just Auto} (throwIO (ErrorCall "x")) :: IO ()))
  getSettings >>= equal "settings" before

settings :: IO ()
settings = forM_ [Static Nothing, Static (Just 4), Dynamic 3, Guided 2, Auto] $ \way -> do
  let wanted = Settings (Just 3) (Just True) (Just way) (Just 2)
  withSettings wanted getSettings >>= equal "settings" wanted
  withSettings wanted (withSettings defaults {threads = Just 2} getSettings)
    >>= equal "inner" wanted {threads = Just 2}

-- | A region in a callback of a region, where OpenMP allows it more than one thread.
inCallback :: IO ()
inCallback = withSettings defaults {activeLevels = Just 2} $ do
  let function _ = withThreads 3 (fromIntegral <$> regionSize)
  got <- withCallback Released function $ \f -> regionOfOne f 2 0
  equal "threads" 3 got

questions :: IO ()
questions = do
  processors <- getProcessors
  unless (processors > 0) (throwIO (ErrorCall "no processors"))
  limit <- getThreadLimit
  unless (limit > 0) (throwIO (ErrorCall "no threads"))
  level <- getLevel
  active <- getActiveLevel
  equal "levels" (0, 0) (level, active)
  void getCancellation
  void getProcBind
  places <- getPlaces
  equal "places" False (any null places)
  inside <- withCallback Released (const (fromIntegral <$> getLevel)) $ \f -> regionOfOne f 2 0
  equal "level in a region" 1 inside

counts :: IO ()
counts = do
  before <- statistics
  _ <- withCallback Released pure $ \f -> regionTasks f 2 100
  _ <- regionCompute 4 10
  after <- statistics
  equal "regions" 2 (regions after - regions before)
  equal "tasks" 100 (tasks after - tasks before)
  equal "a team of four" True (largestTeam after >= 4 && workers after >= 3)

unsafeCounts :: IO ()
unsafeCounts = do
  before <- statistics
  _ <- regionCompute 2 1000
  between <- statistics
  equal "safe" (unsafeRegions before) (unsafeRegions between)
  _ <- unsafeRegionCompute 2 1000000
  after <- statistics
  equal "unsafe" rtsSupportsBoundThreads (unsafeRegions after == unsafeRegions between + 1)
  equal "time" rtsSupportsBoundThreads (unsafeTime after > unsafeTime between)

paused :: IO ()
paused = do
  _ <- regionCompute 3 10
  _ <- pause
  got <- withCallback Kept (\x -> pure (x + 1)) $ \f -> regionSum f 3 10
  equal "sum" 165 got
