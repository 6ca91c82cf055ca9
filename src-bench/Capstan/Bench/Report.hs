{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Report
-- Description : Results as text, as CSV and as JUnit's XML.
module Capstan.Bench.Report
  ( Figures (..),
    figuresOf,
    accountText,
    diagnosisText,
    csvText,
    junitText,
    perCallFigures,
  )
where

import Capstan.Bench.Advice (bytes, causeTitle, count, duration, extent)
import Capstan.Bench.Counters
import Capstan.Bench.Diagnose (Diagnosis (..), countPerCall, trials, typical)
import Capstan.Bench.Evidence
import Capstan.Bench.Statistics
import Criterion.Measurement.Types (Measured (..), fromDouble, fromInt)
import Criterion.Types (Config, Regression (..))
import qualified Data.Map as Map
import Data.Maybe (catMaybes)
import Data.Text (Text)
import qualified Data.Text as Text
import Numeric (showFFloat)
import Statistics.Types (confidenceInterval, estPoint)

-- | An account with its statistics, in seconds per call.
data Figures = Figures
  { figuresAccount :: Account,
    -- | Median, mean and standard deviation of the samples of all processes that ran one benchmark
    -- only, or of the other processes if there are none.
    figuresMedian :: Summary,
    figuresMean :: Summary,
    figuresDeviation :: Summary,
    -- | The figure that criterion calls the time: the slope of its regression, and R². 'Nothing' if
    -- all samples have the same number of calls.
    figuresFit :: Maybe (Summary, Double)
  }

figuresOf :: Config -> Account -> IO Figures
figuresOf config a = do
  fit <- regression config ["iters"] "time" (map sampleMeasured samples)
  Figures a <$> summarise config Median values <*> summarise config Mean values <*> summarise config Deviation values
    <*> pure (either (const Nothing) slope fit)
  where
    slope r = (\e -> (let (low, high) = confidenceInterval e in Summary low (estPoint e) high, estPoint (regRSquare r))) <$> Map.lookup "iters" (regCoeffs r)
    samples = concatMap trialSamples (trials a)
    values = map perCall samples

-- | The counts per call: the key for CSV, the words for people, and the figure.
perCallFigures :: Account -> [(Text, Text, Double)]
perCallFigures a =
  catMaybes
    [ figure "PageFaults" (`counted` "page faults") (reading minorFaults),
      figure "MajorFaults" (`counted` "major page faults") (reading majorFaults),
      figure "VoluntarySwitches" (`counted` "voluntary context switches") (reading voluntarySwitches),
      figure "InvoluntarySwitches" (`counted` "involuntary context switches") (reading involuntarySwitches),
      figure "Mmap" (`counted` "mmap") (calls maps),
      figure "Munmap" (`counted` "munmap") (calls unmaps),
      figure "BrkGrow" (`counted` "brk up") (calls grows),
      figure "BrkTrim" (`counted` "brk down") (calls trims),
      figure "Madvise" (`counted` "madvise") (calls discards),
      figure "GCs" (`counted` "collections") (measured (fmap fromIntegral . fromInt . measNumGcs)),
      figure "GCTime" (\x -> duration x <> " collecting") (measured (fromDouble . measGcWallSeconds)),
      figure "Allocated" (\x -> bytes x <> " allocated") (measured (fmap fromIntegral . fromInt . measAllocated)),
      figure "Cycles" (`counted` "cycles") (reading cycles),
      figure "Instructions" (`counted` "instructions") (reading instructions)
    ]
  where
    figure key say = fmap (\x -> (key, say x, x))
    counted x thing = count x <> " " <> thing
    reading field = countPerCall (field . sampleReading) a
    measured field = countPerCall (field . sampleMeasured) a
    calls field = (\w -> field (watchedCalls w) / watchedIterations w) <$> accountWatched a

-- | The text that criterion shows, and the counts per call. Counts that are too small to show are
-- left out.
accountText :: Figures -> Text
accountText f =
  Text.unlines $
    ("benchmarking " <> accountName a) :
    [line "time" (summary slope <> "   " <> Text.pack (showFFloat (Just 3) fit " R²")) | Just (slope, fit) <- [figuresFit f]]
      ++ line "median" (summary (figuresMedian f)) :
    line "mean" (summary (figuresMean f)) :
    line "std dev" (summary (figuresDeviation f)) :
    [line "after others" (duration (middle after) <> "   (" <> duration (minimum after) <> " .. " <> duration (maximum after) <> ")") | not (null after)]
      ++ [line "per call" (Text.intercalate ", " shown) | not (null shown)]
  where
    a = figuresAccount f
    after = map trialEstimate (accountAfter a)
    shown = [text | (key, text, x) <- perCallFigures a, if key == "GCTime" then x > 0.001 * typical a else x >= 0.001]
    line name text = Text.justifyLeft 15 ' ' name <> text
    summary (Summary low m high) = Text.justifyLeft 10 ' ' (duration m) <> " (" <> duration low <> " .. " <> duration high <> ")"

-- | A diagnosis as a paragraph.
diagnosisText :: Diagnosis -> Text
diagnosisText d =
  Text.unlines $
    ("diagnosis: " <> causeTitle (diagnosisCause d) <> " (" <> extent (diagnosisShare d) <> ") in " <> subjects) :
    map ("  " <>) (diagnosisEvidence d) ++ map ("  change: " <>) (diagnosisAdvice d)
  where
    subjects = case diagnosisSubjects d of
      names | length names > 4 -> Text.intercalate ", " (take 3 names) <> " and " <> Text.pack (show (length names - 3)) <> " more"
      names -> Text.intercalate ", " names

-- | The results as CSV: first the columns of criterion, then ours.
csvText :: [Figures] -> Text
csvText figures = Text.unlines (map (Text.intercalate ",") (header : map row figures))
  where
    header = ["Name", "Mean", "MeanLB", "MeanUB", "Stddev", "StddevLB", "StddevUB", "Median", "MedianLB", "MedianUB", "AfterOthers"] ++ keys
    keys = ["PageFaults", "MajorFaults", "VoluntarySwitches", "InvoluntarySwitches", "Mmap", "Munmap", "BrkGrow", "BrkTrim", "Madvise", "GCs", "GCTime", "Allocated", "Cycles", "Instructions"]
    row f =
      quoted (accountName a) :
      concatMap parts [figuresMean f, figuresDeviation f, figuresMedian f]
        ++ [if null (accountAfter a) then "" else number (middle (map trialEstimate (accountAfter a)))]
        ++ [maybe "" number (lookup key [(k, x) | (k, _, x) <- perCallFigures a]) | key <- keys]
      where
        a = figuresAccount f
    parts (Summary low m high) = map number [m, low, high]
    number = Text.pack . show
    quoted name
      | Text.any (`elem` (",\"\r\n" :: String)) name = "\"" <> Text.replace "\"" "\"\"" name <> "\""
      | otherwise = name

junitText :: [Figures] -> Text
junitText figures =
  Text.unlines $
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" :
    ("<testsuite name=\"Capstan.Bench\" tests=\"" <> Text.pack (show (length figures)) <> "\">") :
    ["  <testcase name=\"" <> escaped (accountName (figuresAccount f)) <> "\" time=\"" <> Text.pack (show (summaryMiddle (figuresMedian f))) <> "\" />" | f <- figures]
      ++ ["</testsuite>"]
  where
    escaped = Text.concatMap one
    -- A character that XML does not allow is shown as U+FFFD.
    one c = case c of
      '&' -> "&amp;"
      '<' -> "&lt;"
      '"' -> "&quot;"
      _
        | c `elem` ("\t\n\r" :: String) -> "&#" <> Text.pack (show (fromEnum c)) <> ";"
        | c < ' ' || c == '\xfffe' || c == '\xffff' -> "\xfffd"
        | otherwise -> Text.singleton c
