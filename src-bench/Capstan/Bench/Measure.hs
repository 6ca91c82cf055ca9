{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE RecordWildCards #-}

-- |
-- Module      : Capstan.Bench.Measure
-- Description : One benchmark in this process: criterion's measurement with counters around it.
--
-- Each sample is criterion's 'measure'. The counters are read where criterion makes and cleans the
-- environment of a sample, that is outside its clocks, so they cost a call nothing. A first call is
-- measured by itself, then samples grow until they are long enough for the clock, and are dropped;
-- then come samples of different sizes, large and small in turn, so that neither drift nor what a
-- sample costs by itself looks like time per call.
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

-- | Samples that a trial aims at; fewer where single calls are long.
sampleCount :: Int
sampleCount = 20

-- | A benchmark whose environments tell what was counted between their making and their cleaning.
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

-- | What takes a sample of so many calls of the benchmark: criterion's 'measure', and the counters.
sampler :: Benchmarkable -> IO (Int64 -> IO Sample)
sampler benchmark = do
  total <- newIORef Nothing
  bm <- counted total benchmark
  pure $ \n -> do
    writeIORef total Nothing
    (m, _) <- measure bm n
    reading <- readIORef total
    maybe (error "Capstan.Bench.Measure: criterion made no environment") (pure . Sample m) reading

-- | Takes about so many seconds, and at least six calls: the first one, two to see how long they are, and three.
measureTrial :: Double -> Place -> Surroundings -> Maybe Double -> Benchmarkable -> IO Trial
measureTrial seconds place surroundings empty benchmark = do
  initializeTime
  sample <- sampler benchmark
  performGC
  first <- sample 1
  performGC
  -- The first call says nothing about the others: threads start in it, pages are touched.
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
    -- Twice, and the shorter one: a pause of the machine would make the samples small. Where each run is
    -- timed by itself, what lies between two runs is longer than they are, and is what the time is spent
    -- on.
    grow sample n = do
      spent <- min <$> spend sample n <*> spend sample n
      if spent >= shortest || n >= 2 ^ (40 :: Int) then pure (spent / fromIntegral n) else grow sample (2 * n)
    spend sample n = do
      before <- getTime
      s <- sample n
      taken <- subtract before <$> getTime
      pure (if perRun benchmark then taken else sampleTime s)

-- | The calls of each sample: a fifth to nine fifths of the mean, so that criterion's regression has
-- something to go by, large and small in turn. A call that
-- is itself as long as a sample is sampled by itself, at least five times, or three where it takes longer
-- than the trial is to.
sizes :: Double -> Double -> [Int64]
sizes seconds call
  | call * fromIntegral sampleCount > seconds = replicate (max (if call > seconds then 3 else 5) (floor (seconds / call))) 1
  | otherwise = map (max 1 . round . (/ call) . (* mean)) (alternate weights)
  where
    mean = seconds / fromIntegral sampleCount
    weights = [0.2 + 1.6 * fromIntegral i / fromIntegral (sampleCount - 1) | i <- [0 .. sampleCount - 1]]
    alternate xs = take (length xs) (concat (zipWith (\a b -> [a, b]) xs (reverse xs)))

-- | What criterion's clocks show for an empty run that is timed by itself, in seconds.
measureFloor :: IO Double
measureFloor = do
  initializeTime
  values <- replicateM 31 (fst <$> measure (perRunEnv (pure ()) pure) 1)
  pure (middle (map measTime values))

describeSurroundings :: IO Surroundings
describeSurroundings = Surroundings <$> measureCosts <*> processors <*> threads <*> getNumCapabilities

-- | One call unwatched, then so many watched. Nothing may be timed in this process afterwards. Nothing
-- where the kernel refuses.
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
      -- Finalisers of C that are found in the first collection of a process may run in the next one.
      performMajorGC
      performMajorGC
      left <- settled held (50 :: Int)
      given <- callsSince after <$> countedCalls
      pure
        ( Just
            Watched
              { watchedIterations = fromIntegral n,
                watchedCalls = callsSince before after,
                -- A large block of malloc's is unmapped as well, and counts once.
                watchedLate = max (unmapBytes given) <$> ((-) <$> held <*> left),
                watchedThreads = made
              }
        )
  where
    -- A collection only finds the finalisers that are due; they run when there is nothing else to do.
    settled before turns = do
      threadDelay 2000
      now <- mallocBytes <$> readCounters
      if turns == 0 || (now == before && turns < 45) then pure now else settled now (turns - 1)
