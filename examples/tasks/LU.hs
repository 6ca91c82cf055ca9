-- | LU decomposition in place, without pivoting, of a matrix whose diagonal dominates. Once a pivot
-- row is known, the rows below it do not depend on each other.
module LU (lu) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

type Matrix = M.IOVector Double

-- | Subtracts from row i what makes its element below pivot k vanish, and keeps the factor there.
eliminate :: Int -> Matrix -> Int -> Int -> IO ()
eliminate n a k i = do
  pivot <- M.unsafeRead a (k * n + k)
  below <- M.unsafeRead a (i * n + k)
  let factor = below / pivot
  M.unsafeWrite a (i * n + k) factor
  loop (k + 1) n $ \j -> do
    x <- M.unsafeRead a (i * n + j)
    y <- M.unsafeRead a (k * n + j)
    M.unsafeWrite a (i * n + j) (x - factor * y)

decompose :: (Int -> Int -> (Int -> IO ()) -> IO ()) -> (Int, Matrix) -> IO (V.Vector Double)
decompose rows (n, a) = do
  loop 0 n (\k -> rows (k + 1) n (eliminate n a k))
  V.unsafeFreeze a
{-# INLINE decompose #-}

lu :: Example
lu =
  Example
    { name = "lu",
      sizeNames = "ROWS",
      usual = [1024],
      small = [40],
      prepare = \[n] -> do
        a <- V.thaw (V.map (\x -> fromIntegral x / 4294967296) (randoms (n * n)))
        loop 0 n (\i -> M.modify a (+ fromIntegral n) (i * n + i))
        pure (n, a),
      sequential = decompose loop,
      parallel = decompose (\low high -> parallelFor (range low high))
    }
