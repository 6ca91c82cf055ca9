-- | Quicksort in place (Hoare's partition, median of three). The two sides of a partition do not
-- depend on each other.
module Quicksort (quicksort) where

import Capstan.Task
import Control.Monad (void)
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

type Numbers = M.IOVector Int

-- | Sorts short pieces.
insertion :: Numbers -> IO ()
insertion v = loop 1 (M.length v) (\i -> M.unsafeRead v i >>= sink i)
  where
    sink :: Int -> Int -> IO ()
    sink 0 x = M.unsafeWrite v 0 x
    sink i x = do
      y <- M.unsafeRead v (i - 1)
      if y <= x then M.unsafeWrite v i x else M.unsafeWrite v i y >> sink (i - 1) x

-- | The median of the first, the middle and the last number.
pivotOf :: Numbers -> IO Int
pivotOf v = do
  a <- M.unsafeRead v 0
  b <- M.unsafeRead v (M.length v `div` 2)
  c <- M.unsafeRead v (M.length v - 1)
  pure (max (min a b) (min (max a b) c))

-- | The index where the second side begins: no number there is less than the pivot, and no number
-- before it is greater.
around :: Int -> Numbers -> IO Int
around pivot v = up 0 (M.length v - 1)
  where
    up, down :: Int -> Int -> IO Int
    up i j
      | i > j = pure i
      | otherwise = M.unsafeRead v i >>= \x -> if x < pivot then up (i + 1) j else down i j
    down i j
      | i >= j = pure i
      | otherwise = M.unsafeRead v j >>= \x -> if x > pivot then down i (j - 1) else M.unsafeSwap v i j >> up (i + 1) (j - 1)

-- | Partitions two halves by tasks. Then the numbers on the wrong sides of the middle change
-- places.
aroundBoth :: Int -> Numbers -> IO Int
aroundBoth pivot v = do
  (i, j) <- both (around pivot left) (around pivot right)
  parallelFor (range 0 (min (half - i) j)) (\k -> M.unsafeSwap v (i + k) (half + j - 1 - k))
  -- If one side is empty in both halves, the equal numbers must be distributed.
  if i + j == 0 || i + j == M.length v then around pivot v else pure (i + j)
  where
    half = M.length v `div` 2
    (left, right) = M.splitAt half v

-- | Sorts; from a first length on by tasks. From a second length on the partitions use tasks too,
-- as such long pieces are too few for all workers.
sort :: Int -> Int -> Numbers -> IO ()
sort smallest few v
  | n <= 24 = insertion v
  | otherwise = do
    pivot <- pivotOf v
    cut <- if n >= few then aroundBoth pivot v else around pivot v
    let (left, right) = M.splitAt cut v
    if n >= smallest then void (both (again left) (again right)) else again left >> again right
  where
    n = M.length v
    again = sort smallest few

quicksort :: Example
quicksort =
  Example
    { name = "quicksort",
      sizeNames = "NUMBERS SMALLEST-TASK",
      usual = [5000000, 5000],
      small = [5000, 50],
      prepare = \[n, smallest] -> (,) smallest <$> V.thaw (randoms n),
      sequential = \(_, v) -> sort maxBound maxBound v >> V.unsafeFreeze v,
      parallel = \(smallest, v) -> poolSize defaultPool >>= \n -> sort smallest (M.length v `quot` n) v >> V.unsafeFreeze v
    }
