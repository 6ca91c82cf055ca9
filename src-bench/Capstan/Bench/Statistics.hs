-- |
-- Module      : Capstan.Bench.Statistics
-- Description : Medians and bootstrap of the statistics package, with criterion's regression.
--
-- The middle is the median of samples, because on a shared machine noise only adds time. Its
-- interval is a bootstrap (bias-corrected and accelerated), as criterion has it for means. The
-- generator has a fixed seed, so the same samples give the same interval.
module Capstan.Bench.Statistics
  ( middle,
    spreadOf,
    Summary (..),
    Estimate (..),
    summarise,
    regression,
    slopeOf,
  )
where

import Control.Monad.Trans.Except (runExceptT)
import Criterion.Analysis (regress)
import Criterion.Measurement.Types (Measured (..))
import Criterion.Monad (withConfig)
import Criterion.Types (Config (..), Regression (..))
import qualified Data.Vector as V
import qualified Data.Vector.Unboxed as U
import Statistics.Quantile (median, s)
import Statistics.Regression (olsRegress)
import qualified Statistics.Resampling as Resampling
import Statistics.Resampling.Bootstrap (bootstrapBCA)
import qualified Statistics.Sample as Sample
import Statistics.Types (confidenceInterval, estPoint)
import System.Random.MWC (create)

-- | The median; 0 for an empty list.
middle :: [Double] -> Double
middle [] = 0
middle values = median s (U.fromList values)

-- | The ratio of the largest to the smallest value; 1 for an empty list.
spreadOf :: [Double] -> Double
spreadOf values
  | null values || minimum values <= 0 = 1
  | otherwise = maximum values / minimum values

-- | An estimate with the bounds of its confidence interval.
data Summary = Summary {summaryLow :: !Double, summaryMiddle :: !Double, summaryHigh :: !Double}
  deriving (Eq, Show)

-- | The kinds of estimates.
data Estimate = Median | Mean | Deviation
  deriving (Eq, Show)

-- | An estimate with its interval, with the confidence and the number of resamples of criterion's
-- configuration. For fewer than three samples, or equal samples, the interval is their range.
summarise :: Config -> Estimate -> [Double] -> IO Summary
summarise config estimate values
  | null values = pure (Summary 0 0 0)
  | length values < 3 || minimum values == maximum values = pure range
  | otherwise = do
    generator <- create
    drawn <- Resampling.resample generator [estimator] (resamples config) sample
    pure $ case bootstrapBCA (confInterval config) sample drawn of
      e : _ -> let (low, high) = confidenceInterval e in Summary low (estPoint e) high
      [] -> range
  where
    sample = U.fromList values
    (estimator, plain) = case estimate of
      Median -> (Resampling.Function (median s), median s sample)
      Mean -> (Resampling.Mean, Sample.mean sample)
      Deviation -> (Resampling.StdDev, if length values < 2 then 0 else Sample.stdDev sample)
    range = case estimate of
      Deviation -> Summary plain plain plain
      _ -> Summary (minimum values) plain (maximum values)

-- | Criterion's regression, given the predictors, the responder and the samples. Returns the reason
-- if it is not possible, for example if all samples have the same number of calls.
regression :: Config -> [String] -> String -> [Measured] -> IO (Either String Regression)
regression config predictors responder samples
  | "iters" `elem` predictors && all ((== map measIters (take 1 samples)) . pure . measIters) samples = pure (Left "all samples have the same number of calls")
  | otherwise = do
    generator <- create
    withConfig config (runExceptT (regress generator predictors responder (V.fromList samples)))

-- | The slope of the second figure over the first: a line by least squares, through at least three
-- points that do not all have the same first figure.
slopeOf :: [(Double, Double)] -> Double
slopeOf points = U.head (fst (olsRegress [U.fromList xs] (U.fromList ys)))
  where
    (xs, ys) = unzip points
