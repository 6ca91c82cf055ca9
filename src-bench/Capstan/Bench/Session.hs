{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Session
-- Description : Starts the program repeatedly: rounds, processes, orders.
--
-- In each round every benchmark gets a process of its own, in shuffled order. At a random place
-- among them, one process runs all benchmarks as criterion would. Its order is that of the program,
-- reversed or shuffled, in turn. An order that would be accused is tried again. At the end each
-- benchmark is watched once for its calls for memory, in a process in which no time is measured.
module Capstan.Bench.Session
  ( Plan (..),
    runSession,
    runHere,
  )
where

import Capstan.Bench.Child
import Capstan.Bench.Counters (startFolder)
import Capstan.Bench.Diagnose (Cause (..), Diagnosis (..), diagnose)
import Capstan.Bench.Encoding (fromBytes)
import Capstan.Bench.Evidence
import Capstan.Bench.Json (readJson)
import Capstan.Bench.Statistics (middle)
import Capstan.Bench.Tree
import Control.Exception (IOException, bracket, evaluate, try)
import Control.Monad (forM, unless, zipWithM)
import Criterion.Measurement.Types (Benchmark)
import Data.Aeson (encodeFile)
import Data.List (minimumBy)
import qualified Data.Map.Strict as Map
import Data.Ord (comparing)
import qualified Data.Set as Set
import qualified Data.Text as Text
import Data.Time (defaultTimeLocale, formatTime, getZonedTime)
import Data.Word (Word64)
import GHC.Environment (getFullArgs)
import qualified GHC.IO.Device as Device
import qualified GHC.IO.FD as FD
import System.Directory (createDirectory, doesFileExist, getSymbolicLinkTarget, getTemporaryDirectory, makeAbsolute, removePathForcibly)
import System.Environment (getEnvironment, getExecutablePath, getProgName)
import System.Exit (ExitCode (..))
import System.FilePath ((</>))
import System.IO (Handle, IOMode (..), hClose, hFlush, hGetContents, hIsTerminalDevice, hPutStr, hSetEncoding, mkTextEncoding, openFile, openTempFile, stderr, withFile)
import System.Process (CreateProcess (..), StdStream (..), proc, waitForProcess, withCreateProcess)

data Plan = Plan
  { -- | The wanted benchmarks, in the order of the program.
    planNames :: [String],
    planRounds :: !Int,
    -- | The seconds for one benchmark in one process.
    planSeconds :: !Double,
    planSeed :: !Word64,
    planQuiet :: !Bool,
    -- | The number of the call of 'Capstan.Bench.defaultMain', from 0.
    planSuite :: !Int
  }

-- | Runs a session. Returns the observations, and the output of each process that failed. Returns
-- only the output if the program, when it is started again, does not reach its benchmarks.
runSession :: Plan -> IO (Either String (Session, [String]))
runSession plan = withScratch $ \scratch -> do
  let steps = concatMap (roundOf plan) [1 .. planRounds plan]
      total = length steps + length (planNames plan)
      run i work = progress plan i total work >> runWork scratch (planSuite plan) work
  timed <- whileBegun (zipWith run [1 ..] steps)
  let first = timesIn [found | Right found <- timed]
  -- An effect that happened once does not accuse an order: the process that shows it is started
  -- once more.
  again <- mapM (run total . togetherIn plan) (suspects (accountsOf plan first Map.empty))
  let trials = Map.unionWith calmer first (timesIn [found | Right found <- again])
      estimate name = middle (map trialEstimate (Map.findWithDefault [] name trials))
      watching = [Watch (watchFor (estimate name)) name | name <- planNames plan, Map.member name trials]
  watched <- zipWithM run [length steps + 1 ..] watching
  clearProgress plan
  let counts = Map.fromList [(name, w) | (Watch _ name, Right (Counted w)) <- zip watching watched]
  case timed of
    [Left (NotBegun words')] -> pure (Left words')
    _ -> do
      session <- sessionOf plan trials counts
      pure (Right (session, [words' | Left (Failed words') <- timed ++ watched]))

-- | Runs all processes. If the first process does not reach its work, it runs only that process,
-- since the others would not either.
whileBegun :: [IO (Either Failure a)] -> IO [Either Failure a]
whileBegun [] = pure []
whileBegun (first : others) = do
  outcome <- first
  case outcome of
    Left (NotBegun _) -> pure [outcome]
    _ -> (outcome :) . map (either (Left . Failed . failureWords) Right) <$> sequence others

-- | Measures all benchmarks in this process, as criterion does, in the same orders as a session.
runHere :: Plan -> [Benchmark] -> IO Session
runHere plan benchmarks = do
  found <- forM [1 .. planRounds plan] $ \r -> observe (togetherIn plan r) benchmarks
  sessionOf plan (timesIn found) Map.empty

-- | The trials by the names of their benchmarks.
timesIn :: [Observation] -> Map.Map String [Trial]
timesIn found = Map.fromListWith (flip (++)) [(name, [t]) | Timed trials <- found, (name, t) <- trials]

sessionOf :: Plan -> Map.Map String [Trial] -> Map.Map String (Maybe Watched) -> IO Session
sessionOf plan trials counts = do
  program <- getProgName
  date <- formatTime defaultTimeLocale "%Y-%m-%d %H:%M" <$> getZonedTime
  pure (Session (Text.pack (fromBytes program)) (Text.pack date) (accountsOf plan trials counts))

accountsOf :: Plan -> Map.Map String [Trial] -> Map.Map String (Maybe Watched) -> [Account]
accountsOf plan trials counts = [account name found | name <- planNames plan, Just found <- [Map.lookup name trials]]
  where
    account name found =
      Account
        { accountName = Text.pack name,
          accountAlone = [t | t <- found, Alone _ <- [trialPlace t]],
          accountAfter = [t | t <- found, After _ _ <- [trialPlace t]],
          accountWatched = Map.findWithDefault Nothing name counts
        }

-- | The rounds whose orders would be accused: a benchmark took longer there after others than in
-- its best process.
suspects :: [Account] -> [Int]
suspects accounts = Set.toList (Set.fromList (concatMap slow accused))
  where
    accused = [a | d <- diagnose accounts, diagnosisCause d == OrderEffect, a <- accounts, accountName a `elem` diagnosisSubjects d]
    slow a = [r | t <- accountAfter a, trialEstimate t > 1.1 * least a, After r _ <- [trialPlace t]]
    least a = minimum (map trialEstimate (accountAlone a ++ accountAfter a))

-- | Of two trials in the same place, takes the shorter trial: a real effect of an order happens
-- again.
calmer :: [Trial] -> [Trial] -> [Trial]
calmer ts repeated = [minimumBy (comparing trialEstimate) (t : [u | u <- repeated, trialPlace u == trialPlace t]) | t <- ts]

-- | The number of watched calls: about a twentieth of a second of calls, as watched calls take
-- microseconds more. One call is enough if calls are long.
watchFor :: Integral n => Double -> n
watchFor call = max (if call > 1 then 1 else 4) (min 20000 (floor (0.05 / max 1e-9 call)))

-- | The processes of a round.
roundOf :: Plan -> Int -> [Work]
roundOf plan r
  | null (planNames plan) = []
  | otherwise = before ++ togetherIn plan r : after
  where
    alone = [TimeAlone r (planSeconds plan) name | name <- shuffled seed id (planNames plan)]
    (before, after) = splitAt (fromIntegral seed `mod` (length alone + 1)) alone
    seed = seedOf plan r

-- | All benchmarks in one process, in the order of this round.
togetherIn :: Plan -> Int -> Work
togetherIn plan r = TimeTogether r (planSeconds plan) order (planNames plan)
  where
    order = case r `mod` 3 of
      1 -> Declared
      2 -> Reversed
      _ -> Shuffled (seedOf plan r)

seedOf :: Plan -> Int -> Word64
seedOf plan r = planSeed plan * 1000 + fromIntegral r

-- | The output of a process that left no result. The process reached its work, or it did not.
data Failure = Failed {failureWords :: String} | NotBegun {failureWords :: String}

-- | Runs a process for a piece of work of a suite. It starts in the directory in which this process
-- started, which may have changed its directory since. The end of the program after its work does
-- not matter, unless a signal ends it.
runWork :: FilePath -> Int -> Work -> IO (Either Failure Observation)
runWork scratch suite work = do
  program <- getExecutablePath
  arguments <- drop 1 <$> getFullArgs
  environment <- getEnvironment
  began <- startFolder
  let (task, result, output) = (scratch </> "task", scratch </> "result", scratch </> "output")
      settings = (taskVariable, task) : filter ((/= taskVariable) . fst) environment
  mapM_ removePathForcibly [result, begunFile result]
  encodeFile task (Task result suite work)
  code <- withFile output WriteMode $ \to -> bracket sameInput hClose $ \from -> do
    let command = (proc program arguments) {cwd = began, env = Just settings, std_in = UseHandle from, std_out = UseHandle to, std_err = UseHandle to}
    withCreateProcess command (\_ _ _ process -> waitForProcess process)
  [there, begun] <- mapM doesFileExist [result, begunFile result]
  if there && not (bySignal code)
    then either (Left . Failed . ((title work ++ ": ") ++)) Right <$> readJson result
    else do
      said <- anyText output
      pure . Left . (if begun then Failed else NotBegun) $ title work ++ ": " ++ ended code ++ concatMap ("\n  " ++) (lines said)
  where
    bySignal code = case code of
      ExitFailure n -> n < 0
      ExitSuccess -> False
    ended ExitSuccess = "the process ended before its benchmarks were done"
    ended code@(ExitFailure n)
      | bySignal code = "the process was ended by signal " ++ show (negate n)
      | otherwise = "the process failed with exit code " ++ show n

-- | The standard input of this process from its beginning, if it is a file. Other input was read
-- once and cannot be read again. A process that tries gets an error; otherwise it would find the
-- input empty, or wait for ever.
sameInput :: IO Handle
sameInput = do
  file <- try (readable =<< getSymbolicLinkTarget own) :: IO (Either IOException Handle)
  either (const (openFile "/dev/null" WriteMode)) pure file
  where
    own = "/proc/self/fd/0"
    readable target = do
      kind <- Device.devType FD.stdin
      if kind == Device.RegularFile || target == "/dev/null" then openFile own ReadMode else ioError (userError "not a file")

-- | A file that may hold bytes of any encoding.
anyText :: FilePath -> IO String
anyText file = withFile file ReadMode $ \from -> do
  hSetEncoding from =<< mkTextEncoding "UTF-8//TRANSLIT"
  said <- hGetContents from
  -- The text is read to its end, so the file is closed before the next process writes it.
  said <$ evaluate (length said)

-- | A title for the work, in characters that UTF-8 can encode.
title :: Work -> String
title work = Text.unpack . Text.pack $ case work of
  TimeAlone _ _ name -> name
  TimeTogether {} -> "all benchmarks in one process"
  Watch _ name -> name ++ ", watched"

-- | Shows the progress on terminals, in one line that is overwritten.
progress :: Plan -> Int -> Int -> Work -> IO ()
progress plan i total work = onTerminal plan ("\r\ESC[K" ++ show i ++ "/" ++ show total ++ " " ++ title work)

clearProgress :: Plan -> IO ()
clearProgress plan = onTerminal plan "\r\ESC[K"

onTerminal :: Plan -> String -> IO ()
onTerminal plan text = do
  terminal <- hIsTerminalDevice stderr
  unless (planQuiet plan || not terminal) (hPutStr stderr text >> hFlush stderr)

withScratch :: (FilePath -> IO a) -> IO a
withScratch = bracket make removePathForcibly
  where
    make = do
      base <- getTemporaryDirectory >>= makeAbsolute
      -- The file reserves a name that no other process has.
      (file, handle) <- openTempFile base "capstan-bench"
      hClose handle
      removePathForcibly file
      createDirectory file
      pure file
