{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Run
-- Description : Runs a suite: new processes, interleaved, round after round.
module Capstan.CLI.Bench.Run
  ( Plan (..),
    applies,
    runsUnder,
    covers,
    unbuilt,
    runSuite,
  )
where

import Capstan.CLI.Bench.Machine (describeMachine, quiet)
import Capstan.CLI.Bench.Progress (Progress, finish, report, start)
import Capstan.CLI.Bench.Runtime (Places (..), Runtime (..), cleanEnvironment, isOurs)
import Capstan.CLI.Bench.Suite (Program (..), Suite (..), floorProgram)
import Capstan.CLI.Bench.Switch (switched, under)
import Capstan.CLI.Bench.Types (Failure (..), Machine (..), Results (..), Row (..))
import Capstan.CLI.Host (interruptedBy)
import Control.Monad (filterM)
import Data.List (isPrefixOf, isSuffixOf, nub, partition)
import Data.Map.Strict (Map)
import qualified Data.Map.Strict as Map
import Data.Maybe (fromMaybe, isJust, mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text
import Data.Time (defaultTimeLocale, formatTime, getZonedTime)
import System.Directory (doesFileExist)
import System.Exit (ExitCode (..))
import System.FilePath ((</>))
import System.Process (CreateProcess (..), proc, readCreateProcessWithExitCode)
import System.Timeout (timeout)
import Text.Read (readMaybe)

-- | The plan of a run of a suite.
data Plan = Plan
  { planPlaces :: Places,
    planRuntimes :: [Runtime],
    planCores :: !Int,
    planRounds :: !Int,
    -- | Samples and microseconds, if the user overrides those of the suite.
    planSamples :: !(Maybe Int),
    planMicroseconds :: !(Maybe Int),
    -- | Team sizes and cases, if the user does not want all.
    planThreads :: [Int],
    planCases :: [String],
    -- | The cases that a judgement needs, each with its team size. A program that knows its cases
    -- by name measures only these if the user names none.
    planJudged :: Maybe [(String, Int)],
    -- | Seconds after which a process is ended.
    planLimit :: !Int
  }

-- | One process to start. The floor has no runtime.
data Step = Step
  { stepRound :: !Int,
    stepProgram :: Program,
    stepThreads :: !Int,
    stepRuntime :: Maybe Runtime,
    -- | The value of @CAPSTAN_WAIT@, if the step switches a heuristic.
    stepWait :: Maybe Text
  }

-- | The steps of a plan: rounds are outermost, then runtimes, and switches are innermost: A B C A B
-- C.
steps :: Plan -> Suite -> [Step]
steps plan suite =
  [ step
    | r <- [1 .. planRounds plan],
      step <-
        [Step r floorProgram t Nothing Nothing | t <- take 1 (programThreads floorProgram (planCores plan))]
          ++ [ Step r p t (Just runtime) wait
               | p <- suitePrograms suite,
                 r `mod` programEvery p == 1 `mod` programEvery p,
                 t <- wanted p (programThreads p (planCores plan)),
                 runtime <- planRuntimes plan,
                 p `runsUnder` runtime,
                 mayHave p t,
                 wait <- if null (programSwitches p) then [Nothing] else map (Just . switched (programSwitches p)) [True, False]
             ]
  ]
  where
    wanted p sizes
      | not (null (planThreads plan)) = planThreads plan
      | Just judged <- planJudged plan, selective p = filter (not . null . needed (planCores plan) p judged) sizes
      | otherwise = sizes

    -- A Haskell program has the cases that its suite names, and no others.
    mayHave p t = not (programHaskell p || programOnly p) || null (planCases plan) || null (programCases p t) || not (null (chosenOf plan p t))

-- | The cases in the program's own list that the user named.
chosenOf :: Plan -> Program -> Int -> [String]
chosenOf plan p t = [name | name <- programCases p t, any (`covers` name) (planCases plan)]

-- | Whether the name that a user wrote, of a case or of a group of cases, means this case.
covers :: String -> String -> Bool
covers asked name
  | "-" `isSuffixOf` asked = asked `isPrefixOf` name
  | otherwise = asked == name

-- | Whether the program is measured under the runtime.
runsUnder :: Program -> Runtime -> Bool
runsUnder p runtime = null (programRuntimes p) || runtimeName runtime `elem` programRuntimes p

-- | Whether the program knows the cases of its rows by name. Other programs derive a row from
-- several cases.
selective :: Program -> Bool
selective p = not (programHaskell p || programLaunched p)

-- | The cases that such a program measures with a team size: the judged cases, and with the largest
-- team also the shown cases.
needed :: Int -> Program -> [(String, Int)] -> Int -> [String]
needed cores p judged size =
  [name | (name, t) <- judged, t == size] ++ [name | size == maximum (programThreads p cores), name <- programShown p]

-- | The program's file. A program with Haskell code contains its runtime, so it has a file for
-- each.
stepFile :: Step -> FilePath
stepFile step
  | programHaskell p, maybe False (isOurs . runtimeName) (stepRuntime step) = programName p ++ "-capstan"
  | otherwise = programName p
  where
    p = stepProgram step

-- | Whether the suite has a program for these runtimes and team sizes.
applies :: Plan -> Suite -> Bool
applies plan = any (isJust . stepRuntime) . steps plan

-- | The files of a suite that are not built.
unbuilt :: Plan -> Suite -> IO [FilePath]
unbuilt plan suite = filterM (fmap not . doesFileExist . (placePrograms (planPlaces plan) </>)) (nub (map stepFile (steps plan suite)))

type Line = (Text, Text, Double)

-- | Measures the suite, or a part of it if the user wants an early end.
runSuite :: Plan -> Suite -> IO Results
runSuite plan suite = do
  machine <- describeMachine
  date <- formatTime defaultTimeLocale "%Y-%m-%d %H:%M" <$> getZonedTime
  progress <- start (Text.unpack (suiteName suite)) (length work)
  before <- quiet
  outcomes <- untilInterrupted (runOne plan progress) work
  notes <- quiet
  finish progress
  let (machines, ours) = partition (\(s, _) -> null (stepRuntime s)) outcomes
  return
    Results
      { resultsSuite = suiteName suite,
        resultsDate = Text.pack date,
        resultsRounds = rounds outcomes,
        resultsMachine = noted (length outcomes) (machine (before, notes)),
        resultsRuntimes = [(runtimeName r, Text.pack (runtimeLibrary r)) | r <- planRuntimes plan, any (`runsUnder` r) (suitePrograms suite)],
        resultsFloor = rows "floor" (rounds outcomes) machines,
        resultsRows = rows (suiteName suite) (rounds outcomes) ours,
        resultsFailures = [f | (_, (_, Just f)) <- outcomes]
      }
  where
    work = steps plan suite
    rounds outcomes = maximum (0 : map (stepRound . fst) outcomes)
    noted done machine
      | done == length work = machine
      | otherwise = machine {machineNotes = machineNotes machine ++ ["interrupted after " <> Text.pack (show done) <> " of " <> Text.pack (show (length work)) <> " processes"]}

-- | Runs the steps in turn. The result of a step does not count if the signal came meanwhile, since
-- the terminal sends the signal to its process too.
untilInterrupted :: (a -> IO b) -> [a] -> IO [b]
untilInterrupted _ [] = pure []
untilInterrupted act (step : later) = do
  result <- act step
  over <- isJust <$> interruptedBy
  if over then pure [] else (result :) <$> untilInterrupted act later

runOne :: Plan -> Progress -> Step -> IO (Step, ([Line], Maybe Failure))
runOne plan progress step = do
  report progress (unwords [stepFile step, show (stepThreads step) ++ " threads,", name ++ ", round", show (stepRound step)])
  clean <- cleanEnvironment
  let chosen = maybe [] runtimeEnvironment (stepRuntime step) ++ [("CAPSTAN_WAIT", Text.unpack wait) | Just wait <- [stepWait step]]
      settings = Map.union (Map.fromList chosen) clean
      command = (proc (placePrograms (planPlaces plan) </> stepFile step) (programWords p ++ arguments)) {env = Just (Map.toList settings)}
  outcome <- timeout (planLimit plan * 1000000) (readCreateProcessWithExitCode command "")
  return $ case outcome of
    Nothing -> (step, ([], failed ("still running after " ++ show (planLimit plan) ++ " s")))
    Just (ExitSuccess, out, _) -> (step, (parseLines out, Nothing))
    Just (ExitFailure code, out, err) ->
      (step, (parseLines out, failed (unwords (ended code : words err))))
  where
    p = stepProgram step
    name = maybe "the machine" (Text.unpack . runtimeName) (stepRuntime step)
    arguments = processArguments plan step
    ended code
      | code < 0 = "ended by signal " ++ show (negate code)
      | otherwise = "exit code " ++ show code ++ ":"
    failed text =
      Just
        Failure
          { failureProgram = Text.pack (stepFile step),
            failureRuntime = Text.pack name,
            failureThreads = stepThreads step,
            failureRound = stepRound step,
            failureWords = Text.pack text
          }

processArguments :: Plan -> Step -> [String]
processArguments plan step =
  ["-t", show (stepThreads step), "-r", show samples, "-u", show microseconds] ++ programOptions p ++ rest
  where
    p = stepProgram step
    samples = fromMaybe (fst (programSamples p)) (planSamples plan)
    microseconds = fromMaybe (snd (programSamples p)) (planMicroseconds plan)
    rest
      | null (stepRuntime step) = []
      | programLaunched p = [word | Just "rts" <- [runtimeName <$> stepRuntime step], word <- [placeCommand (planPlaces plan), "run", "--"]]
      | null (planCases plan), Just judged <- planJudged plan, selective p = needed (planCores plan) p judged (stepThreads step)
      | null (planCases plan) = programCases p (stepThreads step)
      | programOnly p = chosenOf plan p (stepThreads step)
      | otherwise = planCases plan

parseLines :: String -> [Line]
parseLines = mapMaybe (parseLine . Text.splitOn "\t") . Text.lines . Text.pack
  where
    parseLine [name, unit, value] = (,,) name unit <$> readMaybe (Text.unpack value)
    parseLine _ = Nothing

-- | The rows in the order in which the programs printed them.
rows :: Text -> Int -> [(Step, ([Line], Maybe Failure))] -> [Row]
rows suite rounds outcomes =
  [ Row
      { rowSuite = suite,
        rowCase = name,
        rowRuntime = runtime,
        rowThreads = threads,
        rowUnit = unit,
        rowValues = [Map.lookup r values | r <- [1 .. rounds]]
      }
    | key@(threads, name, unit, runtime) <- nub keys,
      Just values <- [Map.lookup key table]
  ]
  where
    entries =
      [ ((stepThreads s, maybe name (name `under`) (stepWait s), unit, maybe "machine" runtimeName (stepRuntime s)), (stepRound s, value))
        | (s, (found, _)) <- outcomes,
          (name, unit, value) <- found
      ]
    keys = map fst (sortByCase entries)
    table :: Map (Int, Text, Text, Text) (Map Int Double)
    table = Map.fromListWith Map.union [(key, Map.singleton r value) | (key, (r, value)) <- entries]

-- | Sorts rows, so that the runtimes of a case are side by side, in the program's order of cases
-- within a team size.
sortByCase :: [((Int, Text, Text, Text), a)] -> [((Int, Text, Text, Text), a)]
sortByCase entries =
  [ entry
    | group <- nub [(t, name) | ((t, name, _, _), _) <- entries],
      entry@((t, name, _, _), _) <- entries,
      (t, name) == group
  ]
