-- |
-- Module      : Capstan.Bench
-- Description : Benchmarks that can be trusted: criterion's interface, fresh processes, a diagnosis.
-- Stability   : experimental
--
-- A drop-in for "Criterion.Main": replace the import and depend on @capstan:bench@.
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
-- Measurement and statistics are criterion's. What is added:
--
-- * Each benchmark is measured in a process of its own (the program starts itself again), in several
--   rounds, in shuffled order; and in each round all of them in one process, as criterion does it, in
--   another order each time. So a figure that depends on what ran before shows.
-- * Beside time, per call: page faults, context switches, calls by which the allocator asks the kernel
--   for memory (@mmap@, @munmap@, @brk@, @madvise@), collections and their time, allocation, and cycles
--   and instructions where the machine has counters. No privileges are needed, nor @+RTS -T@.
-- * A diagnosis in words, with evidence and what to change: see "Capstan.Bench.Diagnose" for the
--   rules and 'Cause' for the list.
--
-- __Options:__ criterion's (@--help@ lists them), and @--rounds@, @--seed@, @--baseline@,
-- @--tolerance@, @--strict@. @--json@ writes all observations, which @--baseline@ reads; @--output@
-- writes a page with plots. @--time-limit@ is for a benchmark in all its processes together. @--raw@
-- and @--template@ are refused. Where a program has a command line of its own, options are read from a variable of
-- the environment, as GHC's are from @GHCRTS@; the command line, where it is ours, has the last word:
--
-- > CAPSTANBENCH_OPTIONS='--rounds 5 --strict --json results.json' ./program its own arguments
--
-- __Cost:__ nothing is added to a call; counters are read between samples, outside criterion's clocks.
-- A process start is added for each benchmark and round.
--
-- __Care:__ all that @main@ does before and after 'defaultMain' is done in each process; where that cannot be,
-- as when it holds a port, all is measured in the first one, as criterion does it, and that is said. Standard input
-- that is a file is read by each from its beginning; a pipe cannot be, and reading it fails. The program
-- must be compiled (not interpreted). Repeats of one benchmark are recognised by names that differ in digits at
-- the end: @copy 1@, @copy 2@.
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
import Capstan.Bench.Child (ownTask, perform, taskSuite)
import Capstan.Bench.Diagnose (Cause (..), Diagnosis (..), diagnose, trials)
import Capstan.Bench.Encoding (fromBytes, speakUtf8)
import Capstan.Bench.Evidence
import Capstan.Bench.Options
import Capstan.Bench.Page (pageText)
import Capstan.Bench.Report
import Capstan.Bench.Session (Plan (..), runHere, runSession)
import Capstan.Bench.Statistics (regression)
import Capstan.Bench.Tree (names, uniquely)
import Control.Monad (forM_, unless, when)
import Criterion.Main (Benchmark, Benchmarkable, bench, bgroup, defaultConfig, env, envWithCleanup, makeMatcher, nf, nfAppIO, nfIO, perBatchEnv, perBatchEnvWithCleanup, perRunEnv, perRunEnvWithCleanup, toBenchmarkable, whnf, whnfAppIO, whnfIO)
import qualified Criterion.Main as Criterion
import Criterion.Main.Options (MatchType, Mode (..))
import Criterion.Types (Config (..), Regression (..), Verbosity (..))
import Data.IORef
import Data.List (stripPrefix)
import qualified Data.Map as Map
import Data.Maybe (mapMaybe)
import qualified Data.Text as Text
import qualified Data.Text.IO as Text
import qualified Data.Text.Lazy as Lazy
import qualified Data.Text.Lazy.IO as Lazy
import Statistics.Types (estPoint)
import System.Directory (doesDirectoryExist)
import System.Environment (getExecutablePath)
import System.Exit (ExitCode (..), exitWith)
import System.FilePath (takeDirectory, takeFileName)
import System.IO (IOMode (..), hPutStrLn, hSetEncoding, stderr, utf8, withFile)
import System.IO.Unsafe (unsafePerformIO)

-- | Measures the benchmarks that the command line names, or all. It ends the program when a benchmark
-- failed, was slower than the baseline allows, or, with @--strict@, when there is a diagnosis.
defaultMain :: [Benchmark] -> IO ()
defaultMain = defaultMainWith defaultConfig

-- | The same with other defaults. The program is started again with the same arguments, so what it
-- makes of them before is the same in each process.
defaultMainWith :: Config -> [Benchmark] -> IO ()
defaultMainWith config benchmarks = inItsProcess benchmarks $ \suite -> do
  options <- parseOptions config
  runWith config options suite benchmarks

-- | What the mode asks for. For programs that read the command line themselves ("Criterion.Main.Options"); options
-- that a mode does not have, such as @--rounds@, are read from @CAPSTANBENCH_OPTIONS@.
runMode :: Mode -> [Benchmark] -> IO ()
runMode mode benchmarks = inItsProcess benchmarks $ \suite -> do
  options <- optionsFor mode
  runWith defaultConfig options suite benchmarks

-- | In a process that a session started, its task; otherwise the action, with the number of this call.
inItsProcess :: [Benchmark] -> (Int -> IO ()) -> IO ()
inItsProcess benchmarks session = do
  speakUtf8
  suite <- atomicModifyIORef' suitesBegun (\n -> (n + 1, n))
  task <- ownTask
  case task of
    Just t -> when (taskSuite t == suite) (perform t (uniquely benchmarks))
    Nothing -> session suite

-- | A program may measure several suites, one after the other: the processes of one leave the others out.
suitesBegun :: IORef Int
suitesBegun = unsafePerformIO (newIORef 0)
{-# NOINLINE suitesBegun #-}

runWith :: Config -> Options -> Int -> [Benchmark] -> IO ()
runWith defaults options suite benchmarks = case optionMode options of
  Run config match wanted -> do
    forM_ (take 1 (refused defaults config)) usage
    -- What the program itself asks for does not keep it from being measured.
    forM_ (refused defaultConfig defaults) (hPutStrLn stderr . ("Not supported: " ++))
    interpreted <- runsInterpreted
    when interpreted (usage "the program is interpreted, and could not be started again: compile it")
    selected <- select match wanted (names unique)
    measureAll options config suite unique selected
  -- Listing, the version, and plain iterations need no processes.
  mode -> Criterion.runMode mode unique
  where
    unique = uniquely benchmarks

-- | Whether the program of this process is GHC.
runsInterpreted :: IO Bool
runsInterpreted = named . takeFileName <$> getExecutablePath
  where
    named file = maybe False (all (`elem` "-.0123456789")) (stripPrefix "ghc" file)

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
  -- A measurement takes minutes, and is not to be lost for a mistyped folder.
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
    -- A program that holds a port or a file, say, cannot be started beside itself.
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

-- | In UTF-8, whatever the locale is.
writeText :: FilePath -> Lazy.Text -> IO ()
writeText file content = withFile file WriteMode $ \to -> hSetEncoding to utf8 >> Lazy.hPutStr to content

-- | What @--regress@ asks for, over the samples of all processes that ran nothing else.
regressions' :: Config -> Account -> IO ()
regressions' config account = forM_ (regressions config) $ \(predictors, responder) -> do
  found <- regression config {verbosity = Quiet} predictors responder [sampleMeasured s | t <- trials account, s <- trialSamples t]
  putStrLn $ case found of
    Left problem -> responder ++ ": " ++ problem
    Right r -> responder ++ ": " ++ unwords [name ++ " " ++ show (estPoint e) | (name, e) <- Map.toList (regCoeffs r)] ++ ", R² " ++ show (estPoint (regRSquare r))
