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

-- | Where the second side begins: nothing there is less than anything before it.
partition :: Numbers -> IO Int
partition v = do
  a <- M.unsafeRead v 0
  b <- M.unsafeRead v (M.length v `div` 2)
  c <- M.unsafeRead v (M.length v - 1)
  go (max (min a b) (min (max a b) c)) (-1) (M.length v)
  where
    go :: Int -> Int -> Int -> IO Int
    go pivot i j = do
      i' <- up pivot (i + 1)
      j' <- down pivot (j - 1)
      if i' >= j' then pure (max 1 i') else M.unsafeSwap v i' j' >> go pivot i' j'
    up, down :: Int -> Int -> IO Int
    up pivot i = M.unsafeRead v i >>= \x -> if x < pivot then up pivot (i + 1) else pure i
    down pivot j = M.unsafeRead v j >>= \x -> if x > pivot then down pivot (j - 1) else pure j

sort :: (Int -> IO () -> IO () -> IO ()) -> Numbers -> IO ()
sort sides v
  | M.length v <= 24 = insertion v
  | otherwise = do
    (left, right) <- (`M.splitAt` v) <$> partition v
    sides (M.length v) (sort sides left) (sort sides right)

quicksort :: Example
quicksort =
  Example
    { name = "quicksort",
      sizeNames = "NUMBERS SMALLEST-TASK",
      usual = [5000000, 5000],
      small = [5000, 100],
      prepare = \[n, smallest] -> (,) smallest <$> V.thaw (randoms n),
      sequential = \(_, v) -> sort (const (>>)) v >> V.unsafeFreeze v,
      parallel = \(smallest, v) -> do
        sort (\n left right -> if n < smallest then left >> right else void (both left right)) v
        V.unsafeFreeze v
    }
