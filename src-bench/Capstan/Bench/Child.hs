{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Child
-- Description : What a process is started for, and doing it.
--
-- A session starts the program again, with the same arguments, and names in the environment a file
-- that holds its task; the program gets as far as 'Capstan.Bench.defaultMain', does the task and
-- leaves what it observed in another file.
module Capstan.Bench.Child
  ( Task (..),
    Work (..),
    Observation (..),
    taskVariable,
    perform,
  )
where

import Capstan.Bench.Counters (collectStatistics, openCounters)
import Capstan.Bench.Evidence (Place (..), Trial, Watched)
import Capstan.Bench.Measure
import Capstan.Bench.Tree
import Control.Monad (when)
import Criterion.Measurement.Types (Benchmark)
import Data.Aeson
import Data.IORef
import Data.Int (Int64)
import qualified Data.Set as Set
import System.Exit (die)

-- | Names the file with the task. Variables that begin with @CAPSTAN_@ belong to the OpenMP runtime.
taskVariable :: String
taskVariable = "CAPSTANBENCH_TASK"

data Task = Task {taskResult :: FilePath, taskWork :: Work}
  deriving (Eq, Show)

data Work
  = -- | One benchmark, in this round, for so many seconds.
    TimeAlone Int Double String
  | -- | These benchmarks one after the other, for so many seconds each.
    TimeTogether Int Double Order [String]
  | -- | One benchmark, so many calls, watched.
    Watch Int64 String
  deriving (Eq, Show)

data Observation = Timed [(String, Trial)] | Counted (Maybe Watched)
  deriving (Eq, Show)

instance ToJSON Task where
  toJSON (Task file work) = object $ case work of
    TimeAlone r s name -> ["result" .= file, "alone" .= (r, s, name)]
    TimeTogether r s order wanted -> ["result" .= file, "together" .= (r, s, show order, wanted)]
    Watch n name -> ["result" .= file, "watch" .= (n, name)]

instance FromJSON Task where
  parseJSON = withObject "task" $ \o -> do
    alone <- o .:? "alone"
    together <- o .:? "together"
    watch <- o .:? "watch"
    file <- o .: "result"
    case (alone, together, watch) of
      (Just (r, s, name), _, _) -> pure (Task file (TimeAlone r s name))
      (_, Just (r, s, order, wanted), _) -> pure (Task file (TimeTogether r s (read order) wanted))
      (_, _, Just (n, name)) -> pure (Task file (Watch n name))
      _ -> fail "a task has work"

instance ToJSON Observation where
  toJSON (Timed trials) = object ["timed" .= trials]
  toJSON (Counted watched) = object ["counted" .= watched]

instance FromJSON Observation where
  parseJSON = withObject "observation" $ \o -> do
    timed <- o .:? "timed"
    maybe (Counted <$> o .:? "counted") (pure . Timed) timed

-- | Does the task in that file with these benchmarks, whose names are unique.
perform :: FilePath -> [Benchmark] -> IO ()
perform file benchmarks = do
  Task result work <- eitherDecodeFileStrict' file >>= either (die . ("a task that cannot be read: " ++)) pure
  collectStatistics
  openCounters
  observation <- case work of
    TimeAlone r seconds name -> Timed <$> time seconds (const (Alone r)) (== name) benchmarks
    TimeTogether r seconds order wanted ->
      Timed <$> time seconds (After r) (`Set.member` Set.fromList wanted) (inOrder order benchmarks)
    Watch n name -> do
      seen <- newIORef Nothing
      visit (== name) (\_ bm -> watchBenchmark n bm >>= writeIORef seen) benchmarks
      Counted <$> readIORef seen
  encodeFile result observation

-- | Trials of the benchmarks that are wanted; a place is told how many came before.
time :: Double -> (Int -> Place) -> (String -> Bool) -> [Benchmark] -> IO [(String, Trial)]
time seconds place wanted benchmarks = do
  surroundings <- describeSurroundings
  empty <- measureFloor
  done <- newIORef []
  visit wanted (measureNext surroundings empty done) benchmarks
  trials <- reverse <$> readIORef done
  when (null trials) (die "the program has no such benchmark in this process")
  pure trials
  where
    measureNext surroundings empty done name bm = do
      before <- length <$> readIORef done
      trial <- measureTrial seconds (place before) surroundings (Just empty) bm
      modifyIORef' done ((name, trial) :)
