-- | The spectral norm of an infinite matrix, by the power method on its first rows and columns.
-- Each element is computed when it is needed.
module SpectralNorm (spectralNorm) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

element :: Int -> Int -> Double
element i j = 1 / fromIntegral ((i + j) * (i + j + 1) `quot` 2 + i + 1)
{-# INLINE element #-}

times, timesTransposed :: Each -> V.Vector Double -> IO (V.Vector Double)
times each v = filled each (V.length v) (\i -> total 0 (V.length v) (\j -> element i j * V.unsafeIndex v j))
{-# INLINE times #-}
timesTransposed each v = filled each (V.length v) (\i -> total 0 (V.length v) (\j -> element j i * V.unsafeIndex v j))
{-# INLINE timesTransposed #-}

filled :: Each -> Int -> (Int -> Double) -> IO (V.Vector Double)
filled each n f = do
  new <- M.new n
  each n (\i -> M.unsafeWrite new i $! f i)
  V.unsafeFreeze new
{-# INLINE filled #-}

norm :: Each -> Int -> IO Double
norm each n = go (10 :: Int) (V.replicate n 1) (V.replicate n 1)
  where
    go 0 u v = pure $! sqrt (dot u v / dot v v)
    go k u _ = do
      v <- times each u >>= timesTransposed each
      u' <- times each v >>= timesTransposed each
      go (k - 1) u' v
    dot a b = total 0 n (\i -> V.unsafeIndex a i * V.unsafeIndex b i)
{-# INLINE norm #-}

spectralNorm :: Example
spectralNorm =
  Example
    { name = "spectral-norm",
      sizeNames = "ROWS",
      usual = [2000],
      small = [60],
      prepare = \[n] -> pure n,
      sequential = norm (loop 0),
      parallel = norm (parallelFor . range 0)
    }
