-- | Accounts of benchmarks that never ran: clean accounts, and accounts with a built-in distortion.
module Synthetic
  ( Noise,
    noises,
    clean,
    cleanWith,
    distorted,
    Distortion,
    distortions,
  )
where

import Capstan.Bench.Counters
import Capstan.Bench.Diagnose (Cause (..))
import Capstan.Bench.Evidence
import Criterion.Measurement (measured)
import Criterion.Measurement.Types (Measured (..))
import Data.Maybe (fromMaybe)
import qualified Data.Text as Text
import Test.QuickCheck

-- | Factors near 1, one for each sample.
type Noise = [Double]

-- | An endless list of factors, up to three percent either way.
noises :: Gen Noise
noises = infiniteListOf (choose (0.97, 1.03))

microsecond :: Double
microsecond = 1e-6

-- | Nothing happens but the passing of time.
quiet :: Reading
quiet =
  Reading
    { minorFaults = Just 0,
      majorFaults = Just 0,
      voluntarySwitches = Just 0,
      involuntarySwitches = Just 0,
      coreWait = Just 0,
      cycles = Nothing,
      instructions = Nothing,
      mallocBytes = Just 0,
      spinTime = Just (3 * microsecond)
    }

sampleOf :: Double -> Double -> Sample
sampleOf calls seconds =
  Sample
    measured
      { measTime = calls * seconds,
        measCpuTime = calls * seconds,
        measIters = round calls,
        measNumGcs = 0,
        measGcWallSeconds = 0,
        measAllocated = 0
      }
    quiet

trialOf :: Place -> Double -> Noise -> Trial
trialOf place seconds noise =
  Trial
    { trialPlace = place,
      trialSurroundings = Surroundings (Costs (0.5 * microsecond) (2 * microsecond) 4e-8) 2 3 1,
      trialFirst = sampleOf 1 (3 * seconds),
      trialSamples = [sampleOf 1000 (seconds * factor) | factor <- take 20 noise],
      trialPerRun = False,
      trialFloor = Nothing
    }

-- | A benchmark with a name and a time for each call, in three rounds.
cleanWith :: String -> Double -> Noise -> Account
cleanWith name seconds noise =
  Account
    { accountName = Text.pack name,
      accountAlone = [trialOf (Alone r) seconds (drop (20 * r) noise) | r <- [1 .. 3]],
      accountAfter = [trialOf (After r r) seconds (drop (100 + 20 * r) noise) | r <- [1 .. 3]],
      accountWatched = Just (Watched 500 (Calls 0 0 0 0 0 0 0 0) (Just 0) 0)
    }

clean :: Noise -> Account
clean = cleanWith "clean" (50 * microsecond)

type Distortion = (Cause, Noise -> [Account])

distorted :: Cause -> Noise -> [Account]
distorted cause = fromMaybe (const []) (lookup cause distortions)

-- | One distortion for each cause, of a fifth of the time or more.
distortions :: [Distortion]
distortions =
  [ (AllocatorThreshold, one allocator),
    (PageFaults, one (everySample (\s -> s {minorFaults = Just 32000}))),
    (LateFinalisers, one late),
    (FirstTouch, one (\a -> a {accountAlone = map touching (accountAlone a)})),
    (Oversubscription, one (everySample (\s -> s {coreWait = Just 0.02}))),
    (CpuFrequency, one slower),
    (TimerResolution, one (everyTrial (\t -> t {trialPerRun = True, trialFloor = Just (20 * microsecond)}))),
    (OrderEffect, \noise -> [(clean noise) {accountAfter = [trialOf (After r r) (62 * microsecond) (drop (60 * r) noise) | r <- [1 .. 3]]}]),
    (Disagreement, \noise -> [cleanWith "copy 1" (50 * microsecond) noise, cleanWith "copy 2" (64 * microsecond) (drop 7 noise)])
  ]
  where
    one f noise = [f (clean noise)]
    everyTrial f a = a {accountAlone = map f (accountAlone a), accountAfter = map f (accountAfter a)}
    everySample f = everyTrial (\t -> t {trialSamples = [s {sampleReading = f (sampleReading s)} | s <- trialSamples t]})
    -- Mapping is expensive in a process with many threads.
    allocator a = everyTrial (\t -> t {trialSurroundings = (trialSurroundings t) {surroundingCosts = Costs (0.5 * microsecond) (12 * microsecond) 4e-8}}) a {accountWatched = Just (Watched 500 (Calls 500 (500 * 135168) 500 (500 * 135168) 0 0 0 0) (Just 0) 0)}
    late a = everySample (\s -> s {minorFaults = Just 8000}) a {accountWatched = Just (Watched 500 (Calls 0 0 0 0 0 0 0 0) (Just 6e7) 0)}
    touching t = t {trialFirst = (sampleOf 1 0.02) {sampleReading = quiet {minorFaults = Just 16384}}}
    -- The third process runs at three quarters of the frequency.
    slower a = a {accountAlone = take 2 (accountAlone a) ++ map throttled (drop 2 (accountAlone a))}
    throttled t = t {trialSamples = [stretched s | s <- trialSamples t]}
    stretched s = (sampleOf 1000 (perCall s * 4 / 3)) {sampleReading = quiet {spinTime = Just (4 * microsecond)}}
