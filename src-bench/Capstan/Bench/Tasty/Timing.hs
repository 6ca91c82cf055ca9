{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Tasty.Timing
-- Description : A benchmark as a test of tasty: it runs a session of its own.
module Capstan.Bench.Tasty.Timing
  ( Timing (..),
    Suite (..),
    Measured (..),
  )
where

import Capstan.Bench.Advice (count, duration)
import Capstan.Bench.Baseline (Change (..), Verdict (..), changeText, changes)
import Capstan.Bench.Diagnose (diagnose, trials, typical)
import Capstan.Bench.Evidence (Account, Session (..), trialEstimate)
import Capstan.Bench.Report (Figures (..), diagnosisText, figuresOf, perCallFigures)
import Capstan.Bench.Session (Plan (..), runSession)
import Capstan.Bench.Statistics (Summary (..))
import Capstan.Bench.Tasty.Options
import Control.Monad (when)
import Criterion.Main (Benchmarkable, defaultConfig)
import Criterion.Types (Config (..), Verbosity (Quiet))
import Data.IORef
import Data.List (intercalate, nub)
import qualified Data.Sequence as Seq
import Data.Text (Text)
import qualified Data.Text as Text
import Test.Tasty.Options (OptionSet, lookupOption)
import Test.Tasty.Providers (IsTest (..), Result, testFailed, testPassed)
import Test.Tasty.Runners (exprMatches)

-- | A benchmark in a tree.
data Timing = Timing
  { timingCode :: Benchmarkable,
    -- | Its suite and its path in the tree, once a program runs the tree.
    timingPlace :: Maybe (Suite, [String])
  }

-- | The data that the benchmarks of a tree share.
data Suite = Suite
  { -- | The number of the suite in the program ("Capstan.Bench.Child").
    suiteNumber :: Int,
    suiteBaseline :: Maybe Session,
    -- | The benchmarks that were measured, the latest first.
    suiteMeasured :: IORef [Measured]
  }

data Measured = Measured
  { measuredPath :: [String],
    measuredSession :: Session,
    measuredFigures :: Figures
  }

instance IsTest Timing where
  testOptions = pure descriptions
  run options timing _ = case timingPlace timing of
    Nothing -> pure (testFailed "no process was started: the program's main is to have an ingredient of Capstan.Bench.Tasty (defaultMain, benchIngredients, measuring)")
    Just (suite, path) -> do
      outcome <- runSession (planOf options suite (intercalate "." path))
      case outcome of
        Left problem -> pure (testFailed ("the program cannot be started again while it runs:\n" ++ problem))
        Right (session, problems) -> do
          figures <- mapM (figuresOf defaultConfig {verbosity = Quiet}) (sessionAccounts session)
          earlier <- readIORef (suiteMeasured suite)
          when (null problems) $
            mapM_ (\f -> modifyIORef' (suiteMeasured suite) (Measured path session f :)) figures
          pure (judged options suite earlier session figures problems)

planOf :: OptionSet -> Suite -> String -> Plan
planOf options suite name =
  Plan
    { planNames = [name],
      planRounds = rounds,
      planSeconds = seconds / fromIntegral (2 * rounds),
      planSeed = 1,
      planQuiet = True,
      planSuite = suiteNumber suite
    }
  where
    Rounds rounds = lookupOption options
    TimeLimit seconds = lookupOption options

-- | The result of a test: its figures, or the processes that failed.
judged :: OptionSet -> Suite -> [Measured] -> Session -> [Figures] -> [String] -> Result
judged options suite earlier session figures problems
  | not (null problems) = testFailed (intercalate "\n" (take 2 (nub problems)))
  | any ((== Slower) . changeVerdict) compared = testFailed message
  | otherwise = testPassed message
  where
    Tolerance tolerance = lookupOption options
    Against pattern' = lookupOption options
    compared = [c | Just old <- [suiteBaseline suite], c <- changes tolerance old session, changeVerdict c /= Gone]
    message =
      Text.unpack . Text.stripEnd . Text.unlines . concat $
        [ concatMap figureLines figures,
          map changeText compared,
          [against earlier (exprMatches e . Seq.fromList) (figuresAccount f) | Just e <- [pattern'], f <- figures],
          map (Text.stripEnd . diagnosisText) (diagnose (sessionAccounts session))
        ]

-- | The median and its interval, the range over the processes, and the counts per call.
figureLines :: Figures -> [Text]
figureLines f =
  (duration middle' <> " (" <> duration low <> " .. " <> duration high <> "), in single processes " <> duration (minimum each) <> " .. " <> duration (maximum each)) :
    ["per call: " <> Text.intercalate ", " shown | not (null shown)]
  where
    Summary low middle' high = figuresMedian f
    each = map trialEstimate (trials (figuresAccount f))
    shown = [text | (key, text, x) <- perCallFigures (figuresAccount f), key `elem` ["Allocated", "GCs", "PageFaults", "VoluntarySwitches", "Mmap"], x >= 0.001]

-- | The ratio to the one earlier benchmark that matches, and its range over the processes of both.
against :: [Measured] -> ([String] -> Bool) -> Account -> Text
against earlier matching now = case filter (matching . measuredPath) earlier of
  [] -> "not compared: no benchmark of the pattern was measured before"
  [reference] -> times (figuresAccount (measuredFigures reference)) (Text.pack (intercalate "." (measuredPath reference)))
  several -> Text.pack ("not compared: the pattern has " ++ show (length several) ++ " benchmarks, and it is to have one")
  where
    times before name =
      count (typical now / typical before) <> " times " <> name <> " (" <> count (minimum (each now) / maximum (each before)) <> " .. " <> count (maximum (each now) / minimum (each before)) <> ")"
    each = map trialEstimate . trials
