{-# LANGUAGE GADTs #-}

-- |
-- Module      : Capstan.Bench.Tasty
-- Description : Benchmarks among the tests of tasty, by the interface of tasty-bench.
-- Stability   : experimental
--
-- A benchmark is a test of tasty. It passes with its figure and spread, and it fails if it throws,
-- or if it became slower than a baseline. A program for @Test.Tasty.Bench@ keeps its text: replace
-- the import, and depend on @capstan-bench@.
--
-- > import Capstan.Bench.Tasty
-- > import Test.Tasty.HUnit (testCase, (@?=))
-- >
-- > main :: IO ()
-- > main =
-- >   defaultMain
-- >     [ testCase "sum" (sum [1 .. 4] @?= (10 :: Int)),
-- >       bgroup "sum" [bench "short" (whnf sum [1 .. 10 :: Int]), bcompare "short" (bench "long" (whnf sum [1 .. 1000 :: Int]))],
-- >       env (pure (replicate 1000 'x')) (\text -> bench "length" (whnf length text))
-- >     ]
--
-- (@testCase@ is from @tasty-hunit@, and @bench@ and the others are from here.)
--
-- __Measuring__ is that of "Capstan.Bench". The program starts itself again, and each process
-- measures one benchmark. An ingredient of tasty ('measuring') recognises such a process before any
-- test begins. The processes of one benchmark follow one another, so effects of one benchmark on
-- another are not looked for. "Capstan.Bench" looks for them.
--
-- __Options:__ all options of tasty. @--pattern@ chooses benchmarks, and @--timeout@ is the limit
-- of a benchmark in all its processes (with @-threaded@). Where the pattern has a benchmark, tests
-- run one after the other, as with @-j1@, so nothing else disturbs a figure. Benchmarks add
-- @--rounds@, @--time-limit@, @--baseline@, @--tolerance@, @--json@ and @--csv@. @--baseline@ reads
-- a file that @--json@ wrote. A benchmark fails if it is slower than there by more than the
-- tolerance, and if all its processes are slower than all processes there.
--
-- __Cost:__ @--time-limit@ seconds for a benchmark, and two process starts for each round, and one
-- more. Each process runs all of @main@ up to the ingredient.
--
-- __Care:__ the names must not depend on environments, as 'env' makes them when a benchmark begins.
-- Two benchmarks must not have the same path. The program must be compiled, not interpreted.
--
-- The module is absent if @capstan-bench@ was built where tasty is not installed.
--
-- @since 0.1.0
module Capstan.Bench.Tasty
  ( -- * Running a tree
    defaultMain,
    benchIngredients,
    measuring,

    -- * Benchmarks in a tree
    Benchmark,
    bench,
    bgroup,
    bcompare,
    env,
    envWithCleanup,
    benchmarks,

    -- * Code to measure
    Benchmarkable,
    nf,
    whnf,
    nfIO,
    whnfIO,
    nfAppIO,
    whnfAppIO,
    perBatchEnv,
    perBatchEnvWithCleanup,
    perRunEnv,
    perRunEnvWithCleanup,
    toBenchmarkable,
  )
where

import Capstan.Bench.Child (inItsProcess, ownTask, runsInterpreted)
import Capstan.Bench.Encoding (writeText)
import Capstan.Bench.Evidence (Session (..), readSession, writeSession)
import Capstan.Bench.Report (csvText)
import Capstan.Bench.Tasty.Options
import Capstan.Bench.Tasty.Timing
import Capstan.Bench.Tree (names)
import Control.DeepSeq (NFData (..))
import Control.Exception (evaluate)
import Control.Monad (filterM, forM_, join, void)
import Criterion.Main (Benchmarkable, nf, nfAppIO, nfIO, perBatchEnv, perBatchEnvWithCleanup, perRunEnv, perRunEnvWithCleanup, toBenchmarkable, whnf, whnfAppIO, whnfIO)
import qualified Criterion.Measurement.Types as Criterion
import Data.IORef
import Data.List (intercalate, nub, (\\))
import Data.Maybe (catMaybes, fromMaybe, isJust)
import qualified Data.Text as Text
import qualified Data.Text.Lazy as Lazy
import Data.Typeable (cast)
import System.Directory (doesDirectoryExist)
import System.FilePath (takeDirectory)
import System.IO (hPutStrLn, stderr)
import System.IO.Unsafe (unsafeInterleaveIO, unsafePerformIO)
import Test.Tasty (DependencyType (AllFinish), TestName, TestTree, after_, defaultIngredients, defaultMainWithIngredients, localOption, testGroup, withResource)
import Test.Tasty.Ingredients (Ingredient (..), ingredientsOptions, tryIngredients)
import Test.Tasty.Options (OptionSet, lookupOption, setOption)
import Test.Tasty.Providers (singleTest)
import Test.Tasty.Runners (NumThreads (..), ResourceSpec (..), TestPattern (..), TestTree (..), TreeFold (..), foldTestTree, parseTestPattern, trivialFold)

-- | A benchmark, a group of benchmarks, or any other tree of tasty.
type Benchmark = TestTree

-- | Runs the tests and the benchmarks of a group @All@ that the command line selects. Ends the
-- program as tasty does: exit code 1 if a test or a benchmark failed.
defaultMain :: [Benchmark] -> IO ()
defaultMain = defaultMainWithIngredients benchIngredients . testGroup "All"

-- | The ingredients of 'defaultMain', for @defaultMainWithIngredients@ of "Test.Tasty":
--
-- > main = Test.Tasty.defaultMainWithIngredients benchIngredients tree
benchIngredients :: [Ingredient]
benchIngredients = [measuring defaultIngredients]

-- | An ingredient that runs trees with benchmarks by the given ingredients. It is to be the only
-- ingredient of the program, since the processes of benchmarks must not run others. With it,
-- benchmarks can be measured; without it, they fail.
measuring :: [Ingredient] -> Ingredient
measuring others = TestManager (ingredientsOptions others) $ \options tree ->
  -- Whether an ingredient applies does not depend on the suite.
  case tryIngredients others options tree of
    Nothing -> Nothing
    Just _ -> Just (fromMaybe True <$> inItsProcess (found options tree) (runTree others options tree))

-- | Runs the tree as the suite of this number, and writes the files. If that is not possible, says
-- why, and returns a failure.
runTree :: [Ingredient] -> OptionSet -> TestTree -> Int -> IO Bool
runTree others options tree number
  | duplicate : _ <- paths \\ nub paths = refuse (duplicate ++ ": two benchmarks have this path; give each its own name")
  | not selected = by options tree
  | otherwise = do
    interpreted <- runsInterpreted
    baseline <- traverse readSession baselineFile
    missing <- filterM (fmap not . doesDirectoryExist . takeDirectory) (catMaybes [json, csv])
    case (baseline, missing) of
      _ | interpreted -> refuse "the program is interpreted, and could not be started again: compile it"
      (Just (Left problem), _) -> refuse (fromMaybe "" baselineFile ++ ": " ++ Text.unpack problem)
      (_, file : _) -> refuse (file ++ ": there is no such folder")
      (old, _) -> do
        measured <- newIORef []
        -- One thread: neither another benchmark nor a test runs beside a benchmark.
        passed <- by (setOption (NumThreads 1) options) (placed (Suite number (old >>= either (const Nothing) Just) measured) [] tree)
        readIORef measured >>= writeFiles json csv . reverse
        pure passed
  where
    by options' tree' = fromMaybe (pure False) (tryIngredients others options' tree')
    paths = names (found options tree)
    selected = or (foldTestTree trivialFold {foldSingle = \_ _ test -> [isJust (cast test :: Maybe Timing)]} options tree)
    Baseline baselineFile = lookupOption options
    JsonFile json = lookupOption options
    CsvFile csv = lookupOption options
    refuse problem = False <$ hPutStrLn stderr ("Error: " ++ problem)

-- | Writes the observations as JSON and the figures as CSV.
writeFiles :: Maybe FilePath -> Maybe FilePath -> [Measured] -> IO ()
writeFiles json csv measured = do
  forM_ json $ \file ->
    forM_ (take 1 measured) $ \m -> writeSession file (measuredSession m) {sessionAccounts = concatMap (sessionAccounts . measuredSession) measured}
  forM_ csv (`writeText` Lazy.fromStrict (csvText (map measuredFigures measured)))

-- | The tree in which each benchmark knows its path and its suite.
placed :: Suite -> [String] -> TestTree -> TestTree
placed suite path tree = case tree of
  SingleTest name test -> case cast test of
    Just timing -> SingleTest name (timing :: Timing) {timingPlace = Just (suite, path ++ [name])}
    Nothing -> tree
  TestGroup name inside -> TestGroup name (map (placed suite (path ++ [name])) inside)
  PlusTestOptions change inside -> PlusTestOptions change (placed suite path inside)
  WithResource resource inside -> WithResource resource (placed suite path . inside)
  AskOptions inside -> AskOptions (placed suite path . inside)
  After kind expression inside -> After kind expression (placed suite path inside)

-- | A resource of tasty, which a benchmark's process makes before it measures.
newtype Held a = Held a

instance NFData (Held a) where
  rnf (Held _) = ()

-- | The benchmarks of a tree by their paths, in the form of criterion, with the resources of the
-- tree as environments. Groups have no name here, because a path is a name.
found :: OptionSet -> TestTree -> [Criterion.Benchmark]
found = go []
  where
    go path options tree = case tree of
      SingleTest name test -> [Criterion.Benchmark (intercalate "." (path ++ [name])) (timingCode t) | Just t <- [cast test]]
      TestGroup name inside -> concatMap (go (path ++ [name]) options) inside
      PlusTestOptions change inside -> go path (change options) inside
      WithResource (ResourceSpec acquire release) inside ->
        [Criterion.Environment (Held <$> acquire) (\(Held x) -> release x) (\held -> Criterion.BenchGroup "" (go path options (inside (pure (let Held x = held in x)))))]
      AskOptions inside -> go path options (inside options)
      After _ _ inside -> go path options inside

-- | A benchmark of this name.
bench :: TestName -> Benchmarkable -> Benchmark
bench name code = singleTest name (Timing code Nothing)

-- | A group: @testGroup@.
bgroup :: TestName -> [Benchmark] -> Benchmark
bgroup = testGroup

-- | Compares a benchmark (or each of a tree) with the one benchmark of a pattern of tasty, and runs
-- it afterwards. The message has the ratio, and its range over the processes of both. The ratio is
-- shown, and does not fail the test. The message says so if no benchmark of the pattern was
-- measured before, or more than one. Throws 'ErrorCall' if the pattern has an error.
bcompare :: String -> Benchmark -> Benchmark
bcompare text inside = case parseTestPattern text of
  Just (TestPattern (Just expression)) -> after_ AllFinish expression (localOption (Against (Just expression)) inside)
  _ -> errorWithoutStackTrace (show text ++ " is no pattern of tasty")

-- | Benchmarks with an environment, which is evaluated completely before the first of them. Names
-- must not depend on it, so take it apart lazily: @\\ ~(a, b) -> ...@. The first process makes the
-- environment only if a test other than a benchmark uses it. An exception fails the benchmarks.
env :: NFData e => IO e -> (e -> Benchmark) -> Benchmark
env make = envWithCleanup make (const (pure ()))

-- | As 'env', with an action that runs after the last benchmark if the environment was made.
envWithCleanup :: NFData e => IO e -> (e -> IO a) -> (e -> Benchmark) -> Benchmark
envWithCleanup make clean inside = withResource acquire release (\get -> inside (unsafePerformIO (snd <$> get)))
  where
    acquire = do
      made <- newIORef (pure ())
      let makeNow = do
            e <- make
            evaluate (rnf e)
            writeIORef made (void (clean e))
            pure e
      task <- ownTask
      e <- if isJust task then makeNow else unsafeInterleaveIO makeNow
      pure (made, e)
    release (made, _) = join (readIORef made)

-- | Benchmarks of "Capstan.Bench" (which are those of criterion) as a group of this name, for a
-- tree that has tests beside them.
benchmarks :: TestName -> [Criterion.Benchmark] -> TestTree
benchmarks name = testGroup name . map tree
  where
    tree b = case b of
      Criterion.Benchmark own code -> bench own code
      Criterion.BenchGroup own inside -> benchmarks own inside
      Criterion.Environment make clean inside -> envWithCleanup make clean (tree . inside)
