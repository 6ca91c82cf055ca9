{-# LANGUAGE OverloadedStrings #-}

-- | @capstan bench@: measures Capstan beside the other runtimes, shows the results with their
-- confidence, and checks them against the required figures.
module Capstan.CLI.Bench (subcommand) where

import Capstan.CLI.Bench.Choice (choices, hasChosen)
import Capstan.CLI.Bench.Machine (countCores)
import Capstan.CLI.Bench.Report (Page (..), renderPage)
import Capstan.CLI.Bench.Run (Plan (..), covers, runSuite, unbuilt)
import Capstan.CLI.Bench.Runtime
import Capstan.CLI.Bench.Simulate
import Capstan.CLI.Bench.Statistics (median)
import Capstan.CLI.Bench.Suite
import Capstan.CLI.Bench.Switch (switchTable)
import Capstan.CLI.Bench.Table (comparisonTable, paperTable, quantity, resultsTable)
import Capstan.CLI.Bench.Targets
import Capstan.CLI.Bench.Types
import Capstan.CLI.Help
import Capstan.CLI.Host (awaitInterrupt, dieBySignal, interruptedBy)
import Capstan.CLI.Problem
import Capstan.CLI.Style (Style)
import qualified Capstan.CLI.Style as Style
import Control.Exception (catch)
import Control.Monad (filterM, forM, forM_, unless, when)
import qualified Data.ByteString.Lazy as Lazy
import Data.Function (on)
import Data.List (intercalate, nub, nubBy, partition, sort)
import Data.Maybe (catMaybes, fromMaybe, isJust)
import qualified Data.Text as Text
import Data.Text.Lazy.Encoding (encodeUtf8)
import Options.Applicative hiding (style)
import System.Directory (createDirectoryIfMissing, doesFileExist)
import System.Exit (ExitCode (..), exitWith)
import System.FilePath ((</>))
import System.IO (hFlush, stdout)
import Text.Read (readMaybe)

data Options = Options
  { optionCheck :: Bool,
    optionSimulate :: Bool,
    optionSaved :: Bool,
    optionList :: Bool,
    optionCompare :: Maybe FilePath,
    optionRounds :: Maybe Int,
    optionSamples :: Maybe Int,
    optionMicroseconds :: Maybe Int,
    optionThreads :: [Int],
    optionRuntimes :: [String],
    optionCases :: [String],
    optionLimit :: Int,
    optionSuites :: [String]
  }

-- | The subcommand.
subcommand :: Mod CommandFields (IO ())
subcommand =
  command "bench" . info (run <$> options) $
    progDesc "Measure Capstan beside the other OpenMP runtimes"
      <> withExamples
        [ Example "capstan bench" "every suite, every runtime; report in build/bench/report.html",
          Example "capstan bench overhead tasks --rounds 20" "two suites, more carefully",
          Example "capstan bench --check" "are the required figures kept? Exit code 1 if one is not",
          Example "capstan bench --compare before.json overhead" "what changed since another run",
          Example "capstan bench --simulate" "how barriers and steals grow to 1024 threads, by model"
        ]

options :: Parser Options
options =
  Options
    <$> switch (long "check" <> help "Judge the required figures of bench/targets.json")
    <*> switch (long "simulate" <> help "Count line transfers on the critical path for 2 to 1024 threads")
    <*> switch (long "saved" <> help "Use the saved results; measure nothing")
    <*> switch (long "list" <> help "List the suites")
    <*> optional (strOption (long "compare" <> metavar "OLD.json" <> help "Show what changed since that run"))
    <*> optional (option positive (long "rounds" <> metavar "N" <> help "New processes for each runtime (default: 10; 3 for ffi and paper)"))
    <*> optional (option positive (long "samples" <> metavar "N" <> help "Samples of each case in a process"))
    <*> optional (option positive (long "microseconds" <> metavar "N" <> help "Least length of a sample"))
    <*> (fromMaybe [] <$> optional (option numbers (long "threads" <> short 't' <> metavar "N[,N...]" <> help "Team sizes, instead of the suite's own")))
    <*> (fromMaybe [] <$> optional (option runtimes (long "runtimes" <> metavar "NAME[,NAME...]" <> help ("Only these: " <> intercalate ", " (map Text.unpack runtimeNames)))))
    <*> many (strOption (long "case" <> metavar "CASE" <> help "Only this case, or group of cases: for- (may be repeated)"))
    <*> option positive (long "limit" <> metavar "SECONDS" <> value 600 <> showDefault <> help "End a process that takes longer (those of ffi take two minutes)")
    <*> many (strArgument (metavar "SUITE..." <> completeWith (map (Text.unpack . suiteName) suites)))
  where
    words' = map Text.unpack . Text.splitOn "," . Text.pack
    number text = [n | Just n <- [readMaybe text], n > 0]
    positive = eitherReader $ \text -> case number text of
      [n] -> Right n
      _ -> Left ("the number must be at least 1, not \"" <> text <> "\"")
    numbers = eitherReader $ \text -> case mapM number (words' text) of
      [several] -> Right (nub several)
      _ -> Left ("--threads takes numbers from 1, separated by commas, not \"" <> text <> "\"")
    runtimes = eitherReader $ \text -> case filter ((`notElem` runtimeNames) . Text.pack) (words' text) of
      [] -> Right (words' text)
      name : _ -> Left ("there is no runtime \"" <> name <> "\"; there are " <> intercalate ", " (map Text.unpack runtimeNames))

run :: Options -> IO ()
run o
  | optionList o = forM_ suites $ \s -> putStrLn (Text.unpack (Text.justifyLeft 16 ' ' (suiteName s) <> suiteTitle s))
  | optionSimulate o, contradicts = throwProblem usageError "--simulate is a run of its own: it takes --saved and --threads only"
  | otherwise = do
    style <- Style.styleFor stdout
    places <- findPlaces >>= maybe (throwProblem unavailable "the benchmarks belong to the source tree (bench/targets.json); run the command from there") pure
    targets <- readTargets (placeTargets places) >>= either (throwProblem noInput . Text.unpack) pure
    -- The file is read before anything is measured, so that the user hears of its faults at the
    -- start.
    old <- mapM readOld (optionCompare o)
    chosen <- chooseSuites o targets (resultsSuite <$> old)
    createDirectoryIfMissing True (placeResults places)
    if optionSimulate o
      then runSimulation o style places
      else do
        results <- if optionSaved o then showSaved o style places chosen else measure o style places targets chosen
        forM_ old (compareWith style results)
        judgements <- if optionCheck o then check o style targets results else pure []
        writePage places judgements
        let broken = [f | r <- results, f <- resultsFailures r, isOurs (failureRuntime f)]
            missed = [j | j <- judgements, maybe True (not . fst) (metBy j)]
        when (not (null broken) || not (null missed)) (exitWith (ExitFailure 1))
  where
    contradicts = optionCheck o || isJust (optionCompare o) || not (null (optionSuites o))

-- | The suites that the user named; else the suite of the old run, to compare with; else all
-- suites. If only targets name a suite, this version does not have it.
chooseSuites :: Options -> [Target] -> Maybe Text.Text -> IO [Suite]
chooseSuites o targets old = do
  let later = nub [targetSuite t | t <- targets, null (findSuite (targetSuite t))]
  chosen <- forM (optionSuites o) $ \name -> case findSuite (Text.pack name) of
    Just suite -> pure (Just suite)
    Nothing
      | Text.pack name `elem` later -> throwProblem unavailable ("the suite " <> name <> " has required figures but no benchmark in this version")
      | otherwise -> throwProblem usageError ("there is no suite " <> name <> "; capstan bench --list shows them")
  let judged = nub (map targetSuite targets)
      wanted = maybe (if optionCheck o then judged else map suiteName suites) pure old
      result = if null chosen then [s | s <- suites, suiteName s `elem` wanted] else nubBy ((==) `on` suiteName) (catMaybes chosen)
  forM_ old $ \name ->
    unless (name `elem` map suiteName result) (throwProblem usageError ("the results to compare with are of the suite " <> Text.unpack name))
  when (optionCheck o) . forM_ result $ \s ->
    unless (suiteName s `elem` judged) (throwProblem usageError ("the suite " <> Text.unpack (suiteName s) <> " has no required figures"))
  when (optionCheck o && not (any (judgedIn o) [t | t <- targets, targetSuite t `elem` map suiteName result])) $
    throwProblem usageError "no required figure has such a case"
  pure result

-- | Runs the simulation, and exits with code 1 if a path of Capstan grows faster than the
-- logarithm.
runSimulation :: Options -> Style -> Places -> IO ()
runSimulation o style places = do
  simulation <-
    if optionSaved o
      then readSimulation places >>= maybe (throwProblem noInput "no simulation was saved") pure
      else simulate places (sort (optionThreads o))
  unless (optionSaved o) (writeSimulation places simulation)
  putStr (simulationText style simulation)
  writePage places []
  when (any (\p -> pathKind p == "ours" && growth (pathTransfers p) == Steeper) (simulationPaths simulation)) $
    exitWith (ExitFailure 1)

measure :: Options -> Style -> Places -> [Target] -> [Suite] -> IO [Results]
measure o style places targets chosen = do
  built <- doesFileExist (placePrograms places </> "overhead")
  unless built (throwProblem unavailable "the benchmark programs are not built: make bench-programs")
  (found, missing) <- findRuntimes places
  let (wanted, _) = partition (\r -> null (optionRuntimes o) || Text.unpack (runtimeName r) `elem` optionRuntimes o) found
  when (null wanted) (throwProblem unavailable "none of these runtimes is installed")
  forM_ missing (warn . Text.unpack)
  cores <- countCores
  complete <- filterM (\suite -> canRun (plan cores wanted suite) suite) chosen
  when (null complete) (throwProblem noInput "no suite has such a case, team size or runtime")
  awaitInterrupt
  forM complete $ \suite -> do
    results <- runSuite (plan cores wanted suite) suite
    early <- interruptedBy
    when (null (resultsRows results) && null (resultsFailures results)) $ do
      mapM_ dieBySignal early
      choices (plan cores wanted suite) suite >>= throwProblem noInput
    showSuite style suite results
    writeResults (resultsFile places suite) results
    forM_ early $ \signal -> writePage places [] >> hFlush stdout >> dieBySignal signal
    pure results
  where
    -- A suite that the user did not name is left out if it is not built, as not every system has
    -- the libraries of all suites.
    canRun p suite = do
      files <- unbuilt p suite
      promising <- if null files then hasChosen p suite else pure False
      case files of
        [] | promising -> pure True
        [] | asked -> choices p suite >>= throwProblem noInput
        [] -> leaveOut "has no program with these cases, team sizes and runtimes"
        _ | asked -> throwProblem unavailable (said ++ notBuilt files ++ ": make bench-programs")
        _ -> leaveOut (notBuilt files)
      where
        said = "the suite " ++ Text.unpack (suiteName suite) ++ " "
        notBuilt files = "is not built (" ++ intercalate ", " files ++ ")"
        leaveOut why = False <$ warn (said ++ why ++ "; it is left out")
    asked = not (null (optionSuites o)) || optionCheck o || isJust (optionCompare o)
    plan cores runtimes suite =
      Plan
        { planPlaces = places,
          planRuntimes = runtimes,
          planCores = cores,
          planRounds = fromMaybe (suiteRounds suite) (optionRounds o),
          planSamples = optionSamples o,
          planMicroseconds = optionMicroseconds o,
          planThreads = optionThreads o,
          planCases = optionCases o,
          planJudged = if optionCheck o then Just (neededBy cores [t | t <- targets, targetSuite t == suiteName suite]) else Nothing,
          planLimit = optionLimit o
        }

showSuite :: Style -> Suite -> Results -> IO ()
showSuite style suite results = do
  putStrLn (Style.heading style (Text.unpack (suiteName suite)) ++ ": " ++ Text.unpack (suiteTitle suite))
  putStrLn (describe results)
  putStrLn (describeFloor results)
  putStr (tableOf (suiteName suite) style results)
  forM_ (failureLines results) (warn . Text.unpack)
  putStrLn ""

tableOf :: Text.Text -> Style -> Results -> String
tableOf "paper" = paperTable
tableOf "waiting" = switchTable
tableOf _ = resultsTable

-- | Reads the results on disk. Shows them as after the measurement, unless they are only compared
-- or checked. A suite that the user named must have results.
showSaved :: Options -> Style -> Places -> [Suite] -> IO [Results]
showSaved o style places chosen = do
  found <- forM chosen $ \suite -> do
    result <- savedOf places suite
    unless (optionCheck o || isJust (optionCompare o)) (forM_ result (showSuite style suite))
    case result of
      Nothing | not (null (optionSuites o)) -> throwProblem noInput ("no results of " <> Text.unpack (suiteName suite) <> " were saved")
      _ -> pure result
  when (null (catMaybes found)) (throwProblem noInput "no results were saved")
  pure (catMaybes found)

describe :: Results -> String
describe results =
  Text.unpack $
    Text.intercalate "; " (machineProcessor m : (Text.pack (show (machineCores m)) <> " cores") : ("Linux " <> machineKernel m) : machineNotes m ++ [Text.pack (show (resultsRounds results)) <> " rounds"])
  where
    m = resultsMachine results

-- | The machine's own figures in the same rounds.
describeFloor :: Results -> String
describeFloor results =
  Text.unpack $
    "The machine: " <> Text.intercalate ", " [rowCase r <> " " <> quantity (rowUnit r) (median (present r)) | r <- resultsFloor results, not (null (present r))]

resultsFile :: Places -> Suite -> FilePath
resultsFile places suite = placeResults places </> Text.unpack (suiteName suite) ++ ".json"

-- | Results on disk, if there are any.
savedOf :: Places -> Suite -> IO (Maybe Results)
savedOf places suite = do
  let file = resultsFile places suite
  there <- doesFileExist file
  if there then Just <$> readOld file else pure Nothing

readOld :: FilePath -> IO Results
readOld file = do
  there <- doesFileExist file
  unless there (throwProblem noInput ("there is no " <> file))
  readResults file >>= either (throwProblem noInput . ((file <> ": ") <>) . Text.unpack) pure

compareWith :: Style -> [Results] -> Results -> IO ()
compareWith style results old = forM_ [r | r <- results, resultsSuite r == resultsSuite old] $ \new -> do
  putStrLn (Style.heading style ("Since " <> Text.unpack (resultsDate old)))
  when (machineProcessor (resultsMachine old) /= machineProcessor (resultsMachine new)) (warn "the old results are of another machine")
  putStr (comparisonTable style (resultsRows old) (resultsRows new))

-- | Whether a target is of a case that the user named. Names of cases have the same meaning as in
-- the programs.
judgedIn :: Options -> Target -> Bool
judgedIn o t = null (optionCases o) || any (`covers` Text.unpack (targetCase t)) (optionCases o)

check :: Options -> Style -> [Target] -> [Results] -> IO [Judgement]
check o style targets results = do
  cores <- countCores
  let judgements = [j | r <- results, t <- targets, targetSuite t == resultsSuite r, judgedIn o t, j <- judge cores r t]
      met = length [j | j <- judgements, Just (True, _) <- [metBy j]]
      later = [t | t <- targets, targetSuite t `notElem` map resultsSuite results]
  putStrLn (Style.heading style "Required figures")
  putStr (judgementTable style judgements)
  putStrLn (show met ++ " of " ++ show (length judgements) ++ " met")
  when (null (optionSuites o) && not (null later)) $
    putStrLn
      ( Style.faint style $
          show (length later) ++ " more belong to suites that were not measured: "
            ++ Text.unpack (Text.intercalate ", " (nub (map targetSuite later)))
      )
  pure judgements

-- | Writes the page with all results on disk, so that a new run of one suite does not lose the
-- other suites.
writePage :: Places -> [Judgement] -> IO ()
writePage places judgements = do
  results <- catMaybes <$> mapM readable suites
  simulation <- readSimulation places
  let file = placeResults places </> "report.html"
  Lazy.writeFile file (encodeUtf8 (renderPage (Page results judgements simulation)))
  putStrLn ("Report: " ++ file)
  where
    -- A broken file of another run must not prevent the page of this run.
    readable suite = savedOf places suite `catch` \(Problem _ message) -> Nothing <$ warn (message <> " (left out of the report)")
