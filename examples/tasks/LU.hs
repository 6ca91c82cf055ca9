-- | LU decomposition in place, without pivoting, of a matrix whose diagonal dominates. Once four
-- pivot rows are known, the rows below them do not depend on each other. With tasks the next pivots
-- are made before the other rows are done, and no step has an end for all rows.
module LU (lu) where

import Capstan.Task
import Control.Monad (forM_, when)
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

type Matrix = M.IOVector Double

at :: Int -> Matrix -> Int -> Int -> IO Double
at n a i j = M.unsafeRead a (i * n + j)
{-# INLINE at #-}

-- | Subtracts a multiple of row k from row i, up to a column, so that the element below pivot k
-- vanishes. The factor is kept there.
eliminate :: Int -> Matrix -> Int -> Int -> Int -> IO ()
eliminate n a end k i = do
  factor <- (/) <$> at n a i k <*> at n a k k
  M.unsafeWrite a (i * n + k) factor
  loop (k + 1) end $ \j -> do
    x <- at n a i j
    y <- at n a k j
    M.unsafeWrite a (i * n + j) (x - factor * y)

-- | Eliminates with four pivots at once, so that row i is read and written once, not four times.
eliminateFour :: Int -> Matrix -> Int -> Int -> IO ()
eliminateFour n a k i = do
  loop k (k + 4) (\p -> eliminate n a (k + 4) p i)
  f0 <- at n a i k
  f1 <- at n a i (k + 1)
  f2 <- at n a i (k + 2)
  f3 <- at n a i (k + 3)
  loop (k + 4) n $ \j -> do
    x <- at n a i j
    y0 <- at n a k j
    y1 <- at n a (k + 1) j
    y2 <- at n a (k + 2) j
    y3 <- at n a (k + 3) j
    M.unsafeWrite a (i * n + j) (x - f0 * y0 - f1 * y1 - f2 * y2 - f3 * y3)

-- | Makes pivots of four rows, or of the remaining rows; all rows above have been subtracted from
-- them.
pivots :: Int -> Matrix -> Int -> IO ()
pivots n a k = let end = min n (k + 4) in loop k end (\p -> loop (p + 1) end (eliminate n a n p))

-- | Each part owns groups of four rows; the parts take the groups in turn, and keep them. In the
-- first half of a step one part makes the next pivots, those of its own rows. In the second half
-- all parts do the rest. So no part has to wait for the pivots that it needs.
byParts :: (Int, Matrix) -> IO ()
byParts (n, a) = do
  parts <- (2 *) <$> poolSize defaultPool
  let final = (n - 1) `quot` 4
      before index = let half = index `quot` parts in (index - parts) : [(half - 2) * parts + half `quot` 2 `rem` parts | even half]
  pivots n a 0
  parallelForAfter (range 0 (final * 2 * parts)) before $ \index -> do
    let (half, part) = index `quotRem` parts
        (k, rest) = half `quotRem` 2
        first = k + 1 + rest + (part - k - 1 - rest) `mod` parts
    forM_ (takeWhile (\four -> rest == 1 || four == k + 1) [first, first + parts .. final]) $ \four -> do
      loop (4 * four) (min n (4 * four + 4)) (eliminateFour n a (4 * k))
      when (rest == 0) (pivots n a (4 * four))

lu :: Example
lu =
  Example
    { name = "lu",
      sizeNames = "ROWS",
      usual = [1024],
      small = [42],
      prepare = \[n] -> do
        a <- V.thaw (V.map (\x -> fromIntegral x / 4294967296) (randoms (n * n)))
        loop 0 n (\i -> M.modify a (+ fromIntegral n) (i * n + i))
        pure (n, a),
      sequential = \(n, a) -> do
        loop 0 ((n + 3) `quot` 4) (\k -> pivots n a (4 * k) >> loop (4 * k + 4) n (eliminateFour n a (4 * k)))
        V.unsafeFreeze a,
      parallel = \matrix -> byParts matrix >> V.unsafeFreeze (snd matrix)
    }
