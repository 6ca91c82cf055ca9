{-# LANGUAGE BangPatterns #-}

-- | Matrix multiplication, row by row: each row of the product is a sum of rows of the second matrix,
-- so that the inner loop goes along rows only, by one index and the distance between the two rows.
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
          !apart = (k - i) * n
      loop (i * n) (i * n + n) $ \j -> do
        x <- M.unsafeRead c j
        M.unsafeWrite c j (x + factor * V.unsafeIndex b (j + apart))
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
