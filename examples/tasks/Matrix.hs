{-# LANGUAGE BangPatterns #-}

-- | Matrix multiplication, row by row: each row of the product is a sum of rows of the second matrix,
-- so that the inner loop goes along rows only.
module Matrix (matrix) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

type Square = V.Vector Double

multiply :: Each -> (Int, Square, Square) -> IO Square
multiply rows (n, a, b) = do
  c <- M.replicate (n * n) 0
  rows n $ \i ->
    loop 0 n $ \k -> do
      let !factor = V.unsafeIndex a (i * n + k)
          !row = V.unsafeSlice (k * n) n b
          !sums = M.unsafeSlice (i * n) n c
      loop 0 n $ \j -> do
        x <- M.unsafeRead sums j
        M.unsafeWrite sums j (x + factor * V.unsafeIndex row j)
  V.unsafeFreeze c
{-# INLINE multiply #-}

matrix :: Example
matrix =
  Example
    { name = "matrix-multiplication",
      sizeNames = "ROWS",
      usual = [512],
      small = [30],
      prepare = \[n] -> do
        let numbers = V.map (\x -> fromIntegral x / 4294967296) (randoms (2 * n * n))
            (a, b) = V.splitAt (n * n) numbers
        numbers `seq` pure (n, a, b),
      sequential = multiply (loop 0),
      parallel = multiply (parallelFor . range 0)
    }
