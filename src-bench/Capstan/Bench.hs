-- |
-- Module      : Capstan.Bench
-- Description : Benchmarks that can be trusted: criterion's interface, fresh processes, a diagnosis.
-- Stability   : experimental
--
-- A drop-in for "Criterion.Main": replace the import and depend on @capstan-bench@.
--
-- > import Capstan.Bench
-- >
-- > main :: IO ()
-- > main =
-- >   defaultMain
-- >     [ bgroup "sum" [bench "list" (whnf sum [1 .. 1000 :: Int])],
-- >       env (pure (replicate 1000 'x')) (\text -> bench "length" (whnf length text))
-- >     ]
--
-- Measurement and statistics are criterion's. This package adds the following:
--
-- * Each benchmark is measured in a process of its own (the program starts itself again), in
--   several rounds, in shuffled order. In each round another process measures all benchmarks, as
--   criterion does, in a different order each time. So figures that depend on earlier benchmarks
--   become visible.
-- * Beside time, the results have counts per call: page faults, context switches, collections and
--   their time, and allocation. They also have the allocator's calls for memory (@mmap@, @munmap@,
--   @brk@, @madvise@), and cycles and instructions if the machine has counters. This needs neither
--   privileges nor @+RTS -T@.
-- * A diagnosis in words gives evidence and advice: see "Capstan.Bench.Diagnose" for the rules, and
--   'Cause' for the list.
--
-- __Options:__ the options of criterion (@--help@ lists them), and @--rounds@, @--seed@,
-- @--baseline@,
-- @--tolerance@, @--strict@. @--json@ writes all observations, which @--baseline@ reads; @--output@
-- writes a page with plots. @--time-limit@ is the limit of a benchmark in all its processes
-- together. @--raw@ and @--template@ are refused. For programs with a command line of their own, an
-- environment variable has the options, as @GHCRTS@ has those of GHC. Options on the command line
-- take precedence:
--
-- > CAPSTANBENCH_OPTIONS='--rounds 5 --strict --json results.json' ./program its own arguments
--
-- __Cost:__ a call costs nothing more, because counters are read between samples, outside
-- criterion's clocks. Each benchmark costs a process start in each round.
--
-- __Care:__ each process runs all of @main@, before and after 'defaultMain'. If that is not
-- possible, for example because the program holds a port, the first process measures everything, as
-- criterion does, and says so. If standard input is a file, each process reads it from its
-- beginning. A pipe cannot be read again, and reading it fails. The program must be compiled, not
-- interpreted. Repeats of a benchmark are recognised by names that differ only in digits at the
-- end: @copy 1@, @copy 2@.
--
-- @since 0.1.0
module Capstan.Bench
  ( -- * Types
    Benchmarkable,
    Benchmark,

    -- * Creating a benchmark suite
    env,
    envWithCleanup,
    perBatchEnv,
    perBatchEnvWithCleanup,
    perRunEnv,
    perRunEnvWithCleanup,
    toBenchmarkable,
    bench,
    bgroup,

    -- * Running a benchmark
    nf,
    whnf,
    nfIO,
    whnfIO,
    nfAppIO,
    whnfAppIO,

    -- * Turning a suite of benchmarks into a program
    defaultMain,
    defaultMainWith,
    defaultConfig,

    -- * Other useful code
    makeMatcher,
    runMode,

    -- * The diagnosis
    Cause (..),
    Diagnosis (..),
  )
where

import Capstan.Bench.Baseline (Change (..), Verdict (..), changeText, changes)
import Capstan.Bench.Child (inItsProcess, runsInterpreted)
import Capstan.Bench.Diagnose (Cause (..), Diagnosis (..), diagnose, trials)
import Capstan.Bench.Encoding (fromBytes, writeText)
import Capstan.Bench.Evidence
import Capstan.Bench.Options
import Capstan.Bench.Page (pageText)
import Capstan.Bench.Report
import Capstan.Bench.Session (Plan (..), runHere, runSession)
import Capstan.Bench.Statistics (regression)
import Capstan.Bench.Tree (names, uniquely)
import Control.Monad (forM_, unless, void, when)
import Criterion.Main (Benchmark, Benchmarkable, bench, bgroup, defaultConfig, env, envWithCleanup, makeMatcher, nf, nfAppIO, nfIO, perBatchEnv, perBatchEnvWithCleanup, perRunEnv, perRunEnvWithCleanup, toBenchmarkable, whnf, whnfAppIO, whnfIO)
import qualified Criterion.Main as Criterion
import Criterion.Main.Options (MatchType, Mode (..))
import Criterion.Types (Config (..), Regression (..), Verbosity (..))
import qualified Data.Map as Map
import Data.Maybe (mapMaybe)
import qualified Data.Text as Text
import qualified Data.Text.IO as Text
import qualified Data.Text.Lazy as Lazy
import Statistics.Types (estPoint)
import System.Directory (doesDirectoryExist)
import System.Exit (ExitCode (..), exitWith)
import System.FilePath (takeDirectory)
import System.IO (hPutStrLn, stderr)

-- | Measures the benchmarks that the command line names, or all benchmarks. Ends the program with
-- exit code 1 if a benchmark failed, if it was slower than the baseline allows, or, with
-- @--strict@, if there is a diagnosis.
defaultMain :: [Benchmark] -> IO ()
defaultMain = defaultMainWith defaultConfig

-- | As 'defaultMain', with other defaults. The program is started again with the same arguments, so
-- each process handles them in the same way before this call.
defaultMainWith :: Config -> [Benchmark] -> IO ()
defaultMainWith config benchmarks = void . inItsProcess (uniquely benchmarks) $ \suite -> do
  options <- parseOptions config
  runWith config options suite benchmarks

-- | Runs a mode of criterion, for programs that read the command line themselves
-- ("Criterion.Main.Options"). Options that a mode does not have, such as @--rounds@, are read from
-- @CAPSTANBENCH_OPTIONS@.
runMode :: Mode -> [Benchmark] -> IO ()
runMode mode benchmarks = void . inItsProcess (uniquely benchmarks) $ \suite -> do
  options <- optionsFor mode
  runWith defaultConfig options suite benchmarks

runWith :: Config -> Options -> Int -> [Benchmark] -> IO ()
runWith defaults options suite benchmarks = case optionMode options of
  Run config match wanted -> do
    forM_ (take 1 (refused defaults config)) usage
    -- Unsupported options in the program's own defaults give a warning only.
    forM_ (refused defaultConfig defaults) (hPutStrLn stderr . ("Not supported: " ++))
    interpreted <- runsInterpreted
    when interpreted (usage "the program is interpreted, and could not be started again: compile it")
    selected <- select match wanted (names unique)
    measureAll options config suite unique selected
  -- Other modes need no further processes: lists of names, the version, and plain iterations.
  mode -> Criterion.runMode mode unique
  where
    unique = uniquely benchmarks

select :: MatchType -> [String] -> [String] -> IO [String]
select match wanted present = do
  matching <- either usage pure (makeMatcher match (map fromBytes wanted))
  let selected = filter matching present
  when (null selected && not (null wanted)) (usage (unwords wanted ++ ": no benchmark matches; --list shows their names"))
  pure selected

usage :: String -> IO a
usage problem = do
  hPutStrLn stderr ("Error: " ++ problem)
  exitWith (ExitFailure 64)

measureAll :: Options -> Config -> Int -> [Benchmark] -> [String] -> IO ()
measureAll options config suite benchmarks selected = do
  old <- traverse (\file -> readSession file >>= either (usage . ((file ++ ": ") ++) . Text.unpack) pure) (optionBaseline options)
  -- A measurement takes minutes, so a mistyped folder is reported before it.
  forM_ (mapMaybe ($ config) [jsonFile, csvFile, junitFile, reportFile]) $ \file -> do
    there <- doesDirectoryExist (takeDirectory file)
    unless there (usage (file ++ ": there is no such folder"))
  (session, problems) <- runSession plan >>= either here pure
  figures <- mapM (figuresOf config {verbosity = Quiet}) (sessionAccounts session)
  let diagnoses = diagnose (sessionAccounts session)
      compared = maybe [] (\before -> changes (optionTolerance options) before session) old
  unless quiet $
    forM_ figures $ \f -> do
      Text.putStr (accountText f)
      regressions' config (figuresAccount f)
      putStrLn ""
  forM_ diagnoses (Text.putStrLn . diagnosisText)
  forM_ compared (Text.putStrLn . changeText)
  forM_ problems (hPutStrLn stderr)
  forM_ (jsonFile config) (`writeSession` session)
  forM_ (csvFile config) (`writeText` Lazy.fromStrict (csvText figures))
  forM_ (junitFile config) (`writeText` Lazy.fromStrict (junitText figures))
  forM_ (reportFile config) (`writeText` pageText session figures diagnoses compared)
  when (not (null problems) || (optionStrict options && not (null diagnoses)) || any ((== Slower) . changeVerdict) compared) $
    exitWith (ExitFailure 1)
  where
    quiet = verbosity config == Quiet
    -- A program that holds a port or a file, for example, cannot run twice at the same time.
    here problem = do
      hPutStrLn stderr (unlines ["The program cannot be started again while it runs, so all is measured in this process, as criterion does:", problem])
      if optionStrict options then exitWith (ExitFailure 1) else runHere plan benchmarks >>= \session -> pure (session, [])
    plan =
      Plan
        { planNames = selected,
          planRounds = optionRounds options,
          planSeconds = timeLimit config / fromIntegral (2 * optionRounds options),
          planSeed = optionSeed options,
          planQuiet = quiet,
          planSuite = suite
        }

-- | The regressions of @--regress@, over the samples of all processes that ran one benchmark only.
regressions' :: Config -> Account -> IO ()
regressions' config account = forM_ (regressions config) $ \(predictors, responder) -> do
  found <- regression config {verbosity = Quiet} predictors responder [sampleMeasured s | t <- trials account, s <- trialSamples t]
  putStrLn $ case found of
    Left problem -> responder ++ ": " ++ problem
    Right r -> responder ++ ": " ++ unwords [name ++ " " ++ show (estPoint e) | (name, e) <- Map.toList (regCoeffs r)] ++ ", R² " ++ show (estPoint (regRSquare r))
