{-# LANGUAGE BangPatterns #-}

-- | The Mandelbrot set: the number of steps after which each point leaves. Rows differ greatly in
-- work, so a worker that is done early must find more.
module Mandelbrot (mandelbrot) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

escape :: Int -> Double -> Double -> Int
escape limit !x !y = go 0 0 0
  where
    go k re im
      | k >= limit || re2 + im2 > 4 = k
      | otherwise = go (k + 1) (re2 - im2 + x) (2 * re * im + y)
      where
        (re2, im2) = (re * re, im * im)

picture :: Each -> (Int, Int) -> IO (V.Vector Int)
picture rows (n, limit) = do
  image <- M.unsafeNew (n * n)
  rows n $ \i ->
    loop 0 n $ \j ->
      M.unsafeWrite image (i * n + j) $! escape limit (3 * at j - 2) (3 * at i - 1.5)
  V.unsafeFreeze image
  where
    at k = fromIntegral k / fromIntegral n
{-# INLINE picture #-}

mandelbrot :: Example
mandelbrot =
  Example
    { name = "mandelbrot",
      sizeNames = "SIDE LIMIT",
      usual = [1024, 500],
      small = [40, 50],
      prepare = \[n, limit] -> pure (n, limit),
      sequential = picture (loop 0),
      parallel = picture (parallelFor . range 0)
    }
