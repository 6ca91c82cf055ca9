-- |
-- Module      : Capstan.CLI.Bench.Statistics
-- Description : Medians, their ratios, and confidence intervals.
--
-- The interval around a ratio of medians is a percentile bootstrap (B. Efron) over rounds. It draws
-- whole rounds again, so both runtimes of a round stay together, and the noise that they share
-- cancels out. The percentile form is used because the jackknife, which corrected forms need, is
-- not consistent for a median.
module Capstan.CLI.Bench.Statistics
  ( median,
    spread,
    Ratio (..),
    exactly,
    ratioPaired,
    ratioUnpaired,
    Verdict (..),
    verdict,
    leastRounds,
  )
where

import Control.Monad (replicateM)
import Control.Monad.ST (runST)
import Data.Maybe (catMaybes)
import qualified Data.Vector.Unboxed as U
import Data.Word (Word32)
import qualified Statistics.Quantile as Quantile
import System.Random.MWC (initialize, uniformR)

-- | The median of a list that is not empty.
median :: [Double] -> Double
median = Quantile.median Quantile.s . U.fromList

-- | The distance between the quartiles, relative to the median.
spread :: [Double] -> Double
spread values
  | length values < 2 || median values == 0 = 0
  | otherwise = Quantile.midspread Quantile.s 4 (U.fromList values) / abs (median values)

-- | A ratio of medians with the interval in which it lies with 95 % confidence.
data Ratio = Ratio
  { ratioLow :: !Double,
    ratioMiddle :: !Double,
    ratioHigh :: !Double,
    -- | The number of rounds behind the ratio.
    ratioCount :: !Int
  }
  deriving (Eq, Show)

-- | A ratio that has no noise.
exactly :: Double -> Ratio
exactly x = Ratio x x x maxBound

-- | The ratio of two rows of one run. Rounds in which either row failed do not count.
ratioPaired :: [Maybe Double] -> [Maybe Double] -> Maybe Ratio
ratioPaired over under
  | null both || middleOf under' <= 0 = Nothing
  | otherwise = interval n (middleOf over' / middleOf under') [again pick | pick <- draws 1 n]
  where
    both = catMaybes (zipWith (\a b -> (,) <$> a <*> b) over under)
    (over', under') = U.unzip (U.fromList both)
    n = length both
    again pick = middleOf (U.backpermute over' pick) / middleOf (U.backpermute under' pick)

-- | The ratio of two rows of different runs.
ratioUnpaired :: [Double] -> [Double] -> Maybe Ratio
ratioUnpaired over under
  | null over || null under || middleOf under' <= 0 = Nothing
  | otherwise = interval (min n m) (middleOf over' / middleOf under') (zipWith again (draws 1 n) (draws 2 m))
  where
    (over', under') = (U.fromList over, U.fromList under)
    (n, m) = (U.length over', U.length under')
    again a b = middleOf (U.backpermute over' a) / middleOf (U.backpermute under' b)

middleOf :: U.Vector Double -> Double
middleOf = Quantile.median Quantile.s

-- | The ratio with its interval. 'Nothing' if a resample divides by zero: such values have no
-- ratio.
interval :: Int -> Double -> [Double] -> Maybe Ratio
interval n middle drawn
  | any (\x -> isNaN x || isInfinite x) drawn = Nothing
  | otherwise = Just (Ratio (at 25) middle (at 975) n)
  where
    at k = Quantile.quantile Quantile.s k 1000 (U.fromList drawn)

-- | Vectors of @n@ indices, drawn with replacement. The seed is fixed, so the same values give the
-- same interval.
draws :: Word32 -> Int -> [U.Vector Int]
draws seed n = runST $ do
  generator <- initialize (U.fromList [seed, fromIntegral n])
  replicateM 2000 (U.replicateM n (uniformR (0, n - 1) generator))

data Verdict = Faster | Slower | NotShown | TooFew
  deriving (Eq, Show)

-- | Fewer rounds than this allow no verdict.
leastRounds :: Int
leastRounds = 5

-- | A difference counts only if the whole interval lies on one side of 1, by more than a percent.
-- The placement of code and data in memory alone changes a figure by a percent.
verdict :: Ratio -> Verdict
verdict r
  | ratioCount r < leastRounds = TooFew
  | ratioHigh r < 0.99 = Faster
  | ratioLow r > 1.01 = Slower
  | otherwise = NotShown
