{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE RecordWildCards #-}

-- |
-- Module      : Capstan.Bench.Measure
-- Description : One benchmark in this process: criterion's measurement with counters around it.
--
-- Each sample is criterion's 'measure'. The counters are read where criterion makes and cleans the
-- environment of a sample. This is outside of its clocks, so they cost a call nothing. A first call
-- is measured by itself. Then samples grow until they are long enough for the clock, and are
-- dropped. Then come samples of different sizes, large and small in turn. So neither a drift nor
-- the fixed cost of a sample looks like time per call.
module Capstan.Bench.Measure
  ( measureTrial,
    sampler,
    measureFloor,
    describeSurroundings,
    watchBenchmark,
  )
where

import Capstan.Bench.Counters
import Capstan.Bench.Evidence
import Capstan.Bench.Statistics (middle)
import Control.Concurrent (getNumCapabilities, threadDelay)
import Control.DeepSeq (rnf)
import Control.Exception (evaluate)
import Control.Monad (replicateM)
import Criterion.Measurement (getTime, initializeTime, measure, runBenchmarkable_)
import Criterion.Measurement.Types (Benchmarkable (..), Measured (..), perRunEnv)
import Data.IORef
import Data.Int (Int64)
import System.Mem (performGC, performMajorGC)

-- | The number of samples that a trial aims at. A trial has fewer samples if single calls are long.
sampleCount :: Int
sampleCount = 20

-- | A benchmark that adds the counts between the making and the cleaning of its environments to the
-- reference.
counted :: IORef (Maybe Reading) -> Benchmarkable -> IO Benchmarkable
counted total Benchmarkable {..} = do
  started <- newIORef Nothing
  let make n = do
        e <- allocEnv n
        evaluate (rnf e)
        readCounters >>= writeIORef started . Just
        pure e
      clean n e = do
        now <- readCounters
        before <- readIORef started
        let counts = fmap (`since` now) before
        modifyIORef' total (maybe counts (\s -> Just (maybe s (plus s) counts)))
        cleanEnv n e
  pure Benchmarkable {allocEnv = make, cleanEnv = clean, ..}

-- | A function that takes a sample of a number of calls: criterion's 'measure', with the counters.
sampler :: Benchmarkable -> IO (Int64 -> IO Sample)
sampler benchmark = do
  total <- newIORef Nothing
  bm <- counted total benchmark
  pure $ \n -> do
    writeIORef total Nothing
    (m, _) <- measure bm n
    reading <- readIORef total
    maybe (error "Capstan.Bench.Measure: criterion made no environment") (pure . Sample m) reading

-- | Measures a benchmark for about the given number of seconds. It makes at least six calls: the
-- first call, two calls to estimate their length, and three samples.
measureTrial :: Double -> Place -> Surroundings -> Maybe Double -> Benchmarkable -> IO Trial
measureTrial seconds place surroundings empty benchmark = do
  initializeTime
  sample <- sampler benchmark
  performGC
  first <- sample 1
  performGC
  -- The first call is not typical: it starts threads and touches pages.
  guess <- grow sample 1
  samples <- mapM sample (sizes seconds guess)
  pure
    Trial
      { trialPlace = place,
        trialSurroundings = surroundings,
        trialFirst = first,
        trialSamples = samples,
        trialPerRun = perRun benchmark,
        trialFloor = if perRun benchmark then empty else Nothing
      }
  where
    shortest = seconds / fromIntegral (2 * sampleCount)
    -- Each size is tried twice, and the shorter time counts: a pause of the machine would make the
    -- samples too small. If each run is timed by itself, the time between two runs is longer than
    -- the runs, and uses most of the trial's time.
    grow sample n = do
      spent <- min <$> spend sample n <*> spend sample n
      if spent >= shortest || n >= 2 ^ (40 :: Int) then pure (spent / fromIntegral n) else grow sample (2 * n)
    spend sample n = do
      before <- getTime
      s <- sample n
      taken <- subtract before <$> getTime
      pure (if perRun benchmark then taken else sampleTime s)

-- | The number of calls of each sample, from a fifth to nine fifths of the mean, large and small in
-- turn: criterion's regression needs different sizes. If a call is as long as a sample, each sample
-- has one call. There are at least five samples then, or three if a call takes longer than the
-- whole trial should take.
sizes :: Double -> Double -> [Int64]
sizes seconds call
  | call * fromIntegral sampleCount > seconds = replicate (max (if call > seconds then 3 else 5) (floor (seconds / call))) 1
  | otherwise = map (max 1 . round . (/ call) . (* mean)) (alternate weights)
  where
    mean = seconds / fromIntegral sampleCount
    weights = [0.2 + 1.6 * fromIntegral i / fromIntegral (sampleCount - 1) | i <- [0 .. sampleCount - 1]]
    alternate xs = take (length xs) (concat (zipWith (\a b -> [a, b]) xs (reverse xs)))

-- | The seconds that criterion's clocks show for an empty run that is timed by itself.
measureFloor :: IO Double
measureFloor = do
  initializeTime
  values <- replicateM 31 (fst <$> measure (perRunEnv (pure ()) pure) 1)
  pure (middle (map measTime values))

describeSurroundings :: IO Surroundings
describeSurroundings = Surroundings <$> measureCosts <*> processors <*> threads <*> getNumCapabilities

-- | Makes one call unwatched, and then a number of calls watched. No time may be measured in this
-- process afterwards. Returns 'Nothing' if the kernel refuses.
watchBenchmark :: Int64 -> Benchmarkable -> IO (Maybe Watched)
watchBenchmark n benchmark = do
  runBenchmarkable_ benchmark 1
  watching <- watchCalls
  if not watching
    then pure Nothing
    else do
      before <- countedCalls
      runBenchmarkable_ benchmark n
      after <- countedCalls
      made <- mostThreads
      held <- mallocBytes <$> readCounters
      -- C finalisers that the first collection of a process finds may run in the next collection.
      performMajorGC
      performMajorGC
      left <- settled held (50 :: Int)
      given <- callsSince after <$> countedCalls
      pure
        ( Just
            Watched
              { watchedIterations = fromIntegral n,
                watchedCalls = callsSince before after,
                -- A large block of malloc is unmapped as well, and must count once.
                watchedLate = max (unmapBytes given) <$> ((-) <$> held <*> left),
                watchedThreads = made
              }
        )
  where
    -- A collection only finds the finalisers that are due. They run when the process has no other
    -- work.
    settled before turns = do
      threadDelay 2000
      now <- mallocBytes <$> readCounters
      if turns == 0 || (now == before && turns < 45) then pure now else settled now (turns - 1)
