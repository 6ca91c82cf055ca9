{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Session
-- Description : Starts the program again and again: rounds, processes, orders.
--
-- In each round every benchmark gets a process of its own, in shuffled order, and somewhere among them
-- one process runs all benchmarks as criterion would: in the order of the program, reversed, and
-- shuffled, in turn. An order that would be accused is tried again. At the end each benchmark is watched once
-- for its calls for memory, in a process in which nothing is timed.
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
  { -- | Those wanted, in the order of the program.
    planNames :: [String],
    planRounds :: !Int,
    -- | For one benchmark in one process.
    planSeconds :: !Double,
    planSeed :: !Word64,
    planQuiet :: !Bool,
    -- | Which call of 'Capstan.Bench.defaultMain' it is, from 0.
    planSuite :: !Int
  }

-- | What was observed, and the words of each process that failed. Only the words where the program, when it
-- is started again, does not come as far as its benchmarks.
runSession :: Plan -> IO (Either String (Session, [String]))
runSession plan = withScratch $ \scratch -> do
  let steps = concatMap (roundOf plan) [1 .. planRounds plan]
      total = length steps + length (planNames plan)
      run i work = progress plan i total work >> runWork scratch (planSuite plan) work
  timed <- whileBegun (zipWith run [1 ..] steps)
  let first = timesIn [found | Right found <- timed]
  -- An order is not accused of what happened once: the process that shows it is started once more.
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

-- | All of them; the first one alone where it did not come to its work: the others would not either.
whileBegun :: [IO (Either Failure a)] -> IO [Either Failure a]
whileBegun [] = pure []
whileBegun (first : others) = do
  outcome <- first
  case outcome of
    Left (NotBegun _) -> pure [outcome]
    _ -> (outcome :) . map (either (Left . Failed . failureWords) Right) <$> sequence others

-- | The same orders of all benchmarks, in this process, as criterion measures.
runHere :: Plan -> [Benchmark] -> IO Session
runHere plan benchmarks = do
  found <- forM [1 .. planRounds plan] $ \r -> observe (togetherIn plan r) benchmarks
  sessionOf plan (timesIn found) Map.empty

-- | What was timed, by name.
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

-- | The rounds in which a benchmark took longer after others than it need, where its order would be accused.
suspects :: [Account] -> [Int]
suspects accounts = Set.toList (Set.fromList (concatMap slow accused))
  where
    accused = [a | d <- diagnose accounts, diagnosisCause d == OrderEffect, a <- accounts, accountName a `elem` diagnosisSubjects d]
    slow a = [r | t <- accountAfter a, trialEstimate t > 1.1 * least a, After r _ <- [trialPlace t]]
    least a = minimum (map trialEstimate (accountAlone a ++ accountAfter a))

-- | Of two trials in the same place, the shorter one: what an order does, it does again.
calmer :: [Trial] -> [Trial] -> [Trial]
calmer ts repeated = [minimumBy (comparing trialEstimate) (t : [u | u <- repeated, trialPlace u == trialPlace t]) | t <- ts]

-- | About a twentieth of a second of calls: watched ones take microseconds more. Of long calls one is enough.
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

-- | What a process said that left no result: it came to its work, or it did not.
data Failure = Failed {failureWords :: String} | NotBegun {failureWords :: String}

-- | A process for this work of a suite. It starts where this one did, which may have gone elsewhere since. What
-- the program does after its work is its own affair, unless a signal ends it.
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

-- | The standard input of this process from its beginning, where it is a file. Anything else was read once and cannot
-- be read again: a process that tries is told so, rather than finding it empty or waiting for what does not come.
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
  -- Read to its end, so that the file is closed before the next process writes it.
  said <$ evaluate (length said)

-- | What can be written in UTF-8.
title :: Work -> String
title work = Text.unpack . Text.pack $ case work of
  TimeAlone _ _ name -> name
  TimeTogether {} -> "all benchmarks in one process"
  Watch _ name -> name ++ ", watched"

-- | On terminals, one line that is written over.
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
      -- The file reserves a name that nobody else has.
      (file, handle) <- openTempFile base "capstan-bench"
      hClose handle
      removePathForcibly file
      createDirectory file
      pure file
