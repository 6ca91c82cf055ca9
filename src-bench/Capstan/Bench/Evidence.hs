{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Evidence
-- Description : The observations of a benchmark, in one process and in all processes, and their
-- file.
--
-- A 'Trial' is one benchmark in one process: its first call, then samples of many calls, each with
-- criterion's measurement and the counters around it. An 'Account' has all observations of one
-- benchmark. These are trials in processes of their own, trials in processes that ran the other
-- benchmarks as well, and the calls for memory in a watched process. Times are in seconds.
module Capstan.Bench.Evidence
  ( -- * One process
    Sample (..),
    sampleTime,
    sampleCalls,
    Trial (..),
    Place (..),
    Surroundings (..),
    perCall,
    trialEstimate,

    -- * All processes
    Watched (..),
    Account (..),
    undisturbed,
    atEqualSpeed,
    atFullSpeed,
    inProcessorTime,
    Session (..),
    readSession,
    writeSession,
  )
where

import Capstan.Bench.Counters (Calls, Costs, Reading (spinTime))
import Capstan.Bench.Json (readJson)
import Capstan.Bench.Statistics (middle)
import Criterion.Measurement.Types (Measured (..))
import Data.Aeson
import Data.Maybe (fromMaybe, mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text
import System.Directory (renameFile)

-- | Some calls that were timed together (or one by one, if criterion times each run by itself).
data Sample = Sample
  { sampleMeasured :: !Measured,
    -- | The counts of the same time.
    sampleReading :: !Reading
  }
  deriving (Eq, Show)

sampleTime :: Sample -> Double
sampleTime = measTime . sampleMeasured

sampleCalls :: Sample -> Double
sampleCalls = fromIntegral . measIters . sampleMeasured

-- | The seconds per call.
perCall :: Sample -> Double
perCall s = sampleTime s / max 1 (sampleCalls s)

-- | The process of a trial, and its place there.
data Place
  = -- | Alone in a process of its own, in a round.
    Alone Int
  | -- | In a round, after a number of other benchmarks in the same process.
    After Int Int
  deriving (Eq, Show)

-- | Properties of a process, and the costs of events in it.
data Surroundings = Surroundings
  { surroundingCosts :: !Costs,
    surroundingProcessors :: !Int,
    surroundingThreads :: !Int,
    surroundingCapabilities :: !Int
  }
  deriving (Eq, Show)

data Trial = Trial
  { trialPlace :: !Place,
    trialSurroundings :: !Surroundings,
    -- | The first call in the process, by itself.
    trialFirst :: !Sample,
    trialSamples :: [Sample],
    -- | Whether each run is timed by itself ('Criterion.Main.perRunEnv').
    trialPerRun :: !Bool,
    -- | The cost of an empty run if each run is timed by itself; 'Nothing' otherwise.
    trialFloor :: !(Maybe Double)
  }
  deriving (Eq, Show)

-- | The seconds per call: the median of the samples.
trialEstimate :: Trial -> Double
trialEstimate = middle . map perCall . trialSamples

-- | The observations of a watched process, in which no time is measured.
data Watched = Watched
  { watchedIterations :: !Double,
    -- | The calls for memory while the benchmark ran.
    watchedCalls :: !Calls,
    -- | The bytes of @malloc@, or of mappings, that were still held after the calls and that the
    -- next collection freed.
    watchedLate :: !(Maybe Double),
    -- | The largest number of threads at a time that the calls made.
    watchedThreads :: !Int
  }
  deriving (Eq, Show)

data Account = Account
  { accountName :: !Text,
    accountAlone :: [Trial],
    accountAfter :: [Trial],
    -- | 'Nothing' if the kernel does not allow watching.
    accountWatched :: !(Maybe Watched)
  }
  deriving (Eq, Show)

-- | Removes the samples during which the processor was slow. The chain of additions beside such a
-- sample took a quarter longer than the fastest chain, and longer than the middle chain. Another
-- guest was on the core then, which slows memory and additions in different proportions. A process
-- of a benchmark's own that has only such samples is left out too, if at least two other such
-- processes remain. Processes that ran other benchmarks are kept, because each of them had its own
-- order.
undisturbed :: [Account] -> [Account]
undisturbed accounts = [a {accountAlone = keep (accountAlone a), accountAfter = map (\t -> fromMaybe t (calmed t)) (accountAfter a)} | a <- accounts]
  where
    limit = max (1.25 * minimum spins) (middle spins)
    spins = spinsOf accounts
    keep trials
      | length kept >= 2 = kept
      | otherwise = trials
      where
        kept = mapMaybe calmed trials
    calmed t = case filter quick (trialSamples t) of
      [] -> Nothing
      calm -> Just t {trialSamples = calm}
    quick s = maybe True (<= limit) (spinTime (sampleReading s))

-- | Scales the time of each sample to the fastest speed of the processor that the accounts show. A
-- guest on a busy host, and a core whose clock changes, are slower at times. The chain of additions
-- beside each sample shows by how much.
atEqualSpeed :: [Account] -> [Account]
atEqualSpeed accounts = map (onTrials (map (\t -> t {trialSamples = map scaled (trialSamples t)}))) accounts
  where
    fastest = minimum (spinsOf accounts)
    scaled s = case spinTime (sampleReading s) of
      Just x | x > 0 -> s {sampleMeasured = (sampleMeasured s) {measTime = sampleTime s * fastest / x}}
      _ -> s

-- | The accounts for comparisons of figures: 'undisturbed' and 'atEqualSpeed'.
atFullSpeed :: [Account] -> [Account]
atFullSpeed = atEqualSpeed . undisturbed

-- | The account with processor time, of all threads, in place of elapsed time.
inProcessorTime :: Account -> Account
inProcessorTime = onTrials (map (\t -> t {trialSamples = map spent (trialSamples t)}))
  where
    spent s = s {sampleMeasured = (sampleMeasured s) {measTime = measCpuTime (sampleMeasured s)}}

onTrials :: ([Trial] -> [Trial]) -> Account -> Account
onTrials f a = a {accountAlone = f (accountAlone a), accountAfter = f (accountAfter a)}

-- | The times of the chain of additions beside each sample.
spinsOf :: [Account] -> [Double]
spinsOf accounts = [x | a <- accounts, t <- accountAlone a ++ accountAfter a, s <- trialSamples t, Just x <- [spinTime (sampleReading s)]]

-- | A run of the program: all its benchmarks, in the order of the program.
data Session = Session
  { sessionProgram :: !Text,
    sessionDate :: !Text,
    sessionAccounts :: [Account]
  }
  deriving (Eq, Show)

instance ToJSON Sample where
  toJSON (Sample m r) = toJSON (m, r)

instance FromJSON Sample where
  parseJSON v = uncurry Sample <$> parseJSON v

instance ToJSON Place where
  toJSON (Alone r) = object ["round" .= r]
  toJSON (After r n) = object ["round" .= r, "after" .= n]

instance FromJSON Place where
  parseJSON = withObject "place" $ \o -> do
    others <- o .:? "after"
    maybe Alone (flip After) others <$> o .: "round"

instance ToJSON Surroundings where
  toJSON (Surroundings c p t k) = object ["costs" .= c, "processors" .= p, "threads" .= t, "capabilities" .= k]

instance FromJSON Surroundings where
  parseJSON = withObject "surroundings" $ \o ->
    Surroundings <$> o .: "costs" <*> o .: "processors" <*> o .: "threads" <*> o .: "capabilities"

instance ToJSON Trial where
  toJSON t =
    object
      [ "place" .= trialPlace t,
        "surroundings" .= trialSurroundings t,
        "first" .= trialFirst t,
        "samples" .= trialSamples t,
        "per-run" .= trialPerRun t,
        "floor" .= trialFloor t
      ]

instance FromJSON Trial where
  parseJSON = withObject "trial" $ \o ->
    Trial <$> o .: "place" <*> o .: "surroundings" <*> o .: "first" <*> o .: "samples" <*> o .: "per-run" <*> o .:? "floor"

instance ToJSON Watched where
  toJSON (Watched n calls late made) = object ["iterations" .= n, "calls" .= calls, "late" .= late, "threads" .= made]

instance FromJSON Watched where
  parseJSON = withObject "watched" $ \o -> Watched <$> o .: "iterations" <*> o .: "calls" <*> o .:? "late" <*> o .:? "threads" .!= 0

instance ToJSON Account where
  toJSON (Account name alone after watched) =
    object ["name" .= name, "alone" .= alone, "after-others" .= after, "watched" .= watched]

instance FromJSON Account where
  parseJSON = withObject "benchmark" $ \o ->
    Account <$> o .: "name" <*> o .: "alone" <*> o .: "after-others" <*> o .:? "watched" >>= measured
    where
      measured a
        | null (accountAlone a) && null (accountAfter a) = fail "a benchmark without any process that measured it"
        | otherwise = pure a

instance ToJSON Session where
  toJSON (Session program date accounts) =
    object ["capstan-bench" .= (1 :: Int), "program" .= program, "date" .= date, "benchmarks" .= accounts]

instance FromJSON Session where
  parseJSON = withObject "results of Capstan.Bench" $ \o ->
    Session <$> o .: "program" <*> o .: "date" <*> o .: "benchmarks"

-- | A file that an earlier run wrote with @--json@.
readSession :: FilePath -> IO (Either Text Session)
readSession file = either (Left . Text.pack) Right <$> readJson file

-- | Replaces the file in one step, so a reader never sees half of it.
writeSession :: FilePath -> Session -> IO ()
writeSession file session = do
  encodeFile (file ++ ".new") session
  renameFile (file ++ ".new") file
