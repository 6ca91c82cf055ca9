{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Child
-- Description : The task of a started process, and its execution.
--
-- A session starts the program again, with the same arguments. An environment variable names a file
-- with the task of the process. When the program reaches 'Capstan.Bench.defaultMain', it performs
-- the task and writes its observations to another file.
module Capstan.Bench.Child
  ( Task (..),
    Work (..),
    Observation (..),
    taskVariable,
    ownTask,
    begunFile,
    inItsProcess,
    runsInterpreted,
    perform,
    observe,
  )
where

import Capstan.Bench.Counters (collectStatistics, openCounters)
import Capstan.Bench.Encoding (speakUtf8)
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
import Data.List (stripPrefix)
import qualified Data.Set as Set
import System.Directory (renameFile)
import System.Environment (getExecutablePath, lookupEnv, unsetEnv)
import System.Exit (die)
import System.FilePath (takeFileName)
import System.IO.Unsafe (unsafePerformIO)
import Text.Read (readMaybe)

-- | The variable that names the file with the task. Its name does not begin with @CAPSTAN_@,
-- because such variables belong to the OpenMP runtime.
taskVariable :: String
taskVariable = "CAPSTANBENCH_TASK"

data Task = Task
  { taskResult :: FilePath,
    -- | The number of the call of 'Capstan.Bench.defaultMain', from 0: a program may call it
    -- several times.
    taskSuite :: Int,
    taskWork :: Work
  }
  deriving (Eq, Show)

data Work
  = -- | One benchmark, in a round, for a number of seconds.
    TimeAlone Int Double String
  | -- | Several benchmarks one after the other, in a round, each for a number of seconds.
    TimeTogether Int Double Order [String]
  | -- | One benchmark, for a number of calls, watched.
    Watch Int64 String
  deriving (Eq, Show)

data Observation = Timed [(String, Trial)] | Counted (Maybe Watched)
  deriving (Eq, Show)

-- Names are written with 'show'. A name that is not Unicode, such as the name of a file in another
-- encoding, would otherwise come back as a different name. In the C locale the name of a temporary
-- folder may be such a name.

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

-- | Reads a value that 'show' has written.
written :: (Read a, MonadFail m) => String -> m a
written text = maybe (fail ("not as Haskell writes it: " ++ take 100 text)) pure (readMaybe text)

-- | The task of this process. Processes that a benchmark starts must not perform it.
ownTask :: IO (Maybe Task)
ownTask = evaluate inherited

-- | The task is read once, and the variable is removed.
inherited :: Maybe Task
inherited = unsafePerformIO $ do
  variable <- lookupEnv taskVariable
  forM variable $ \file -> do
    unsetEnv taskVariable
    readJson file >>= either (die . ("a task that cannot be read: " ++)) pure
{-# NOINLINE inherited #-}

-- | Performs the task of the process if a session has started the process, and returns 'Nothing'.
-- Otherwise runs the action, with the number of this call.
inItsProcess :: [Benchmark] -> (Int -> IO a) -> IO (Maybe a)
inItsProcess benchmarks session = do
  speakUtf8
  suite <- atomicModifyIORef' suitesBegun (\n -> (n + 1, n))
  task <- ownTask
  case task of
    Just t -> Nothing <$ when (taskSuite t == suite) (perform t benchmarks)
    Nothing -> Just <$> session suite

-- | The number of calls so far. A program may measure several suites, one after the other, and the
-- processes of a suite skip the other suites.
suitesBegun :: IORef Int
suitesBegun = unsafePerformIO (newIORef 0)
{-# NOINLINE suitesBegun #-}

-- | Whether the program of this process is GHC, which cannot be started again as the program.
runsInterpreted :: IO Bool
runsInterpreted = isGhc . takeFileName <$> getExecutablePath
  where
    isGhc file = maybe False (all (`elem` ("-.0123456789" :: String))) (stripPrefix "ghc" file)

-- | Performs the task with the benchmarks, whose names are unique.
perform :: Task -> [Benchmark] -> IO ()
perform (Task result _ work) benchmarks = do
  writeFile (begunFile result) ""
  observation <- observe work benchmarks
  -- The file gets its name only when it is complete, even if the program fails afterwards.
  encodeFile (result ++ ".new") observation
  renameFile (result ++ ".new") result

-- | The file beside a result's file that exists as soon as the program has reached its benchmarks.
begunFile :: FilePath -> FilePath
begunFile result = result ++ ".begun"

-- | Performs the work in this process.
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

-- | The trials of the wanted benchmarks. The function for the place gets the number of earlier
-- benchmarks.
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
