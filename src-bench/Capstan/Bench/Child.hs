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
    ownTask,
    begunFile,
    perform,
    observe,
  )
where

import Capstan.Bench.Counters (collectStatistics, openCounters)
import Capstan.Bench.Evidence (Place (..), Trial, Watched)
import Capstan.Bench.Json (readJson)
import Capstan.Bench.Measure
import Capstan.Bench.Tree
import Control.Exception (evaluate)
import Control.Monad (forM, when)
import Criterion.Measurement.Types (Benchmark)
import Data.Aeson
import Data.IORef
import Data.Int (Int64)
import qualified Data.Set as Set
import System.Directory (renameFile)
import System.Environment (lookupEnv, unsetEnv)
import System.Exit (die)
import System.IO.Unsafe (unsafePerformIO)
import Text.Read (readMaybe)

-- | Names the file with the task. Variables that begin with @CAPSTAN_@ belong to the OpenMP runtime.
taskVariable :: String
taskVariable = "CAPSTANBENCH_TASK"

data Task = Task
  { taskResult :: FilePath,
    -- | Of which call of 'Capstan.Bench.defaultMain', counted from 0: a program may have several.
    taskSuite :: Int,
    taskWork :: Work
  }
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

-- Names are written as Haskell writes them: one that is not Unicode, such as that of a file in another encoding, would
-- come back as another. In the locale of C the name of a temporary folder may be one.

instance ToJSON Task where
  toJSON (Task file suite work) = object . (["result" .= show file, "suite" .= suite] ++) $ case work of
    TimeAlone r s name -> ["alone" .= (r, s, show name)]
    TimeTogether r s order wanted -> ["together" .= (r, s, show order, map show wanted)]
    Watch n name -> ["watch" .= (n, show name)]

instance FromJSON Task where
  parseJSON = withObject "task" $ \o -> do
    alone <- o .:? "alone"
    together <- o .:? "together"
    watch <- o .:? "watch"
    task <- Task . read <$> o .: "result" <*> o .: "suite"
    case (alone, together, watch) of
      (Just (r, s, name), _, _) -> task . TimeAlone r s <$> written name
      (_, Just (r, s, order, wanted), _) -> task <$> (TimeTogether r s <$> written order <*> mapM written wanted)
      (_, _, Just (n, name)) -> task . Watch n <$> written name
      _ -> fail "a task has work"

instance ToJSON Observation where
  toJSON (Timed trials) = object ["timed" .= [(show name, t) | (name, t) <- trials]]
  toJSON (Counted watched) = object ["counted" .= watched]

instance FromJSON Observation where
  parseJSON = withObject "observation" $ \o -> do
    timed <- o .:? "timed"
    maybe (Counted <$> o .:? "counted") named timed

named :: MonadFail m => [(String, Trial)] -> m Observation
named trials = Timed . (`zip` map snd trials) <$> mapM (written . fst) trials

-- | What Haskell has written.
written :: (Read a, MonadFail m) => String -> m a
written text = maybe (fail ("not as Haskell writes it: " ++ take 100 text)) pure (readMaybe text)

-- | What this process was started for. What a benchmark itself starts is not to take it up.
ownTask :: IO (Maybe Task)
ownTask = evaluate inherited

-- | Read once, because the variable is gone afterwards.
inherited :: Maybe Task
inherited = unsafePerformIO $ do
  variable <- lookupEnv taskVariable
  forM variable $ \file -> do
    unsetEnv taskVariable
    readJson file >>= either (die . ("a task that cannot be read: " ++)) pure
{-# NOINLINE inherited #-}

-- | Does the task with these benchmarks, whose names are unique.
perform :: Task -> [Benchmark] -> IO ()
perform (Task result _ work) benchmarks = do
  writeFile (begunFile result) ""
  observation <- observe work benchmarks
  -- The file is there when it is whole, whatever becomes of the program afterwards.
  encodeFile (result ++ ".new") observation
  renameFile (result ++ ".new") result

-- | Of a result's file: one that is there as soon as the program has come to its benchmarks.
begunFile :: FilePath -> FilePath
begunFile result = result ++ ".begun"

-- | Does it in this process.
observe :: Work -> [Benchmark] -> IO Observation
observe work benchmarks = do
  collectStatistics
  openCounters
  case work of
    TimeAlone r seconds name -> Timed <$> time seconds (const (Alone r)) (== name) benchmarks
    TimeTogether r seconds order wanted ->
      Timed <$> time seconds (After r) (`Set.member` Set.fromList wanted) (inOrder order benchmarks)
    Watch n name -> do
      seen <- newIORef Nothing
      visit (== name) (\_ bm -> watchBenchmark n bm >>= writeIORef seen) benchmarks
      Counted <$> readIORef seen

-- | Trials of the benchmarks that are wanted; a place is told how many came before.
time :: Double -> (Int -> Place) -> (String -> Bool) -> [Benchmark] -> IO [(String, Trial)]
time seconds place wanted benchmarks = do
  surroundings <- describeSurroundings
  empty <- measureFloor
  done <- newIORef []
  visit wanted (measureNext surroundings empty done) benchmarks
  trials <- reverse <$> readIORef done
  when (null trials) (die "the program has no benchmark of this name when it is started again")
  pure trials
  where
    measureNext surroundings empty done name bm = do
      before <- length <$> readIORef done
      trial <- measureTrial seconds (place before) surroundings (Just empty) bm
      modifyIORef' done ((name, trial) :)
