-- | LU decomposition in place, without pivoting, of a matrix whose diagonal dominates. Once four
-- pivot rows are known, the rows below them do not depend on each other.
module LU (lu) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

type Matrix = M.IOVector Double

at :: Int -> Matrix -> Int -> Int -> IO Double
at n a i j = M.unsafeRead a (i * n + j)
{-# INLINE at #-}

-- | Subtracts from row i, as far as a column, what makes its element below pivot k vanish, and
-- keeps the factor there.
eliminate :: Int -> Matrix -> Int -> Int -> Int -> IO ()
eliminate n a end k i = do
  pivot <- at n a k k
  below <- at n a i k
  let factor = below / pivot
  M.unsafeWrite a (i * n + k) factor
  loop (k + 1) end $ \j -> do
    x <- at n a i j
    y <- at n a k j
    M.unsafeWrite a (i * n + j) (x - factor * y)

-- | The same for four pivots at once, so that row i is read and written once, not four times.
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

decompose :: (Int -> Int -> (Int -> IO ()) -> IO ()) -> (Int, Matrix) -> IO (V.Vector Double)
decompose rows (n, a) = go 0 >> V.unsafeFreeze a
  where
    go k
      | k + 4 > n = loop k n (\p -> loop (p + 1) n (eliminate n a n p))
      | otherwise = do
        loop k (k + 4) (\p -> loop (p + 1) (k + 4) (eliminate n a n p))
        rows (k + 4) n (eliminateFour n a k)
        go (k + 4)
{-# INLINE decompose #-}

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
      sequential = decompose loop,
      parallel = decompose (\low high -> parallelFor (chunk 16 (range low high)))
    }
