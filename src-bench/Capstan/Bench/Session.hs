{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Session
-- Description : Starts the program again and again: rounds, processes, orders.
--
-- In each round every benchmark gets a process of its own, in shuffled order, and somewhere among them
-- one process runs all benchmarks as criterion would: in the order of the program, reversed, and
-- shuffled, in turn. At the end each benchmark is watched once for its calls
-- for memory, in a process in which nothing is timed.
module Capstan.Bench.Session
  ( Plan (..),
    runSession,
  )
where

import Capstan.Bench.Child
import Capstan.Bench.Evidence
import Capstan.Bench.Statistics (middle)
import Capstan.Bench.Tree
import Control.Exception (bracket, evaluate)
import Control.Monad (forM, unless)
import Data.Aeson (eitherDecodeFileStrict', encodeFile)
import qualified Data.Map.Strict as Map
import qualified Data.Text as Text
import Data.Time (defaultTimeLocale, formatTime, getZonedTime)
import Data.Word (Word64)
import GHC.Environment (getFullArgs)
import System.Directory (createDirectory, doesFileExist, getTemporaryDirectory, removePathForcibly)
import System.Environment (getEnvironment, getExecutablePath, getProgName)
import System.Exit (ExitCode (..))
import System.FilePath ((</>))
import System.IO (IOMode (..), hClose, hFlush, hIsTerminalDevice, hPutStr, openTempFile, stderr, withFile)
import System.Process (CreateProcess (..), StdStream (..), proc, waitForProcess, withCreateProcess)

data Plan = Plan
  { -- | Those wanted, in the order of the program.
    planNames :: [String],
    planRounds :: !Int,
    -- | For one benchmark in one process.
    planSeconds :: !Double,
    planSeed :: !Word64,
    planQuiet :: !Bool
  }

-- | What was observed, and the words of each process that failed.
runSession :: Plan -> IO (Session, [String])
runSession plan = withScratch $ \scratch -> do
  let steps = concatMap (roundOf plan) [1 .. planRounds plan]
      total = length steps + length (planNames plan)
  timed <- forM (zip [1 ..] steps) $ \(i, work) -> progress plan i total work >> runWork scratch work
  let trials = Map.fromListWith (flip (++)) [(name, [t]) | Right (Timed found) <- timed, (name, t) <- found]
      estimate name = middle (map trialEstimate (Map.findWithDefault [] name trials))
      watching = [Watch (watchFor (estimate name)) name | name <- planNames plan, Map.member name trials]
  watched <- forM (zip [length steps + 1 ..] watching) $ \(i, work) -> progress plan i total work >> runWork scratch work
  clearProgress plan
  program <- getProgName
  date <- formatTime defaultTimeLocale "%Y-%m-%d %H:%M" <$> getZonedTime
  let counts = Map.fromList [(name, w) | (Watch _ name, Right (Counted w)) <- zip watching watched]
      account name found =
        Account
          { accountName = Text.pack name,
            accountAlone = [t | t <- found, Alone _ <- [trialPlace t]],
            accountAfter = [t | t <- found, After _ _ <- [trialPlace t]],
            accountWatched = Map.findWithDefault Nothing name counts
          }
      accounts = [account name found | name <- planNames plan, Just found <- [Map.lookup name trials]]
  pure (Session (Text.pack program) (Text.pack date) accounts, [problem | Left problem <- timed ++ watched])

-- | About a twentieth of a second of calls: watched ones take microseconds more.
watchFor :: Integral n => Double -> n
watchFor call = max 4 (min 20000 (floor (0.05 / max 1e-9 call)))

-- | The processes of a round.
roundOf :: Plan -> Int -> [Work]
roundOf plan r = before ++ together : after
  where
    alone = [TimeAlone r (planSeconds plan) name | name <- shuffled seed id (planNames plan)]
    (before, after) = splitAt (fromIntegral seed `mod` (length alone + 1)) alone
    together = TimeTogether r (planSeconds plan) order (planNames plan)
    seed = planSeed plan * 1000 + fromIntegral r
    order = case r `mod` 3 of
      1 -> Declared
      2 -> Reversed
      _ -> Shuffled seed

-- | A process for this work; on failure, what it said.
runWork :: FilePath -> Work -> IO (Either String Observation)
runWork scratch work = do
  program <- getExecutablePath
  arguments <- getFullArgs
  environment <- getEnvironment
  let (task, result, output) = (scratch </> "task", scratch </> "result", scratch </> "output")
      settings = (taskVariable, task) : filter ((/= taskVariable) . fst) environment
  removePathForcibly result
  encodeFile task (Task result work)
  code <- withFile output WriteMode $ \to -> do
    let command = (proc program arguments) {env = Just settings, std_in = NoStream, std_out = UseHandle to, std_err = UseHandle to}
    withCreateProcess command (\_ _ _ process -> waitForProcess process)
  there <- doesFileExist result
  case code of
    ExitSuccess | there -> either (Left . (title work ++) . (": " ++)) Right <$> eitherDecodeFileStrict' result
    _ -> do
      said <- readFile output
      -- Read to its end, so that the file is closed before the next process writes it.
      _ <- evaluate (length said)
      pure . Left $ title work ++ ": " ++ ended code ++ concatMap ("\n  " ++) (lines said)
  where
    ended ExitSuccess = "the process ended before Capstan.Bench.defaultMain was done"
    ended (ExitFailure n)
      | n < 0 = "the process was ended by signal " ++ show (negate n)
      | otherwise = "the process failed with exit code " ++ show n

title :: Work -> String
title work = case work of
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
      base <- getTemporaryDirectory
      -- The file reserves a name that nobody else has.
      (file, handle) <- openTempFile base "capstan-bench"
      hClose handle
      removePathForcibly file
      createDirectory file
      pure file
