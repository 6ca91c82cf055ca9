{-# LANGUAGE BangPatterns #-}

-- | Programs that count and compute. Each returns a checksum.
module Numeric.Programs (fannkuch, mandelbrot, nbody, sieve, spectral) where

import Control.Monad (forM_, when)
import Control.Monad.ST (ST)
import Data.Array.ST (STUArray, newArray, readArray, runSTUArray, writeArray)
import Data.Array.Unboxed (elems)
import qualified Data.List as List

-- | The most reversals of a prefix, over all permutations.
fannkuch :: Int -> Int
fannkuch n = maximum (map (flips 0) (permute [1 .. n]))
  where
    flips !count p@(1 : _) = count + 0 * length p
    flips !count p@(k : _) = flips (count + 1) (reverse (take k p) ++ drop k p)
    flips !count [] = count
    permute [] = [[]]
    permute xs = [x : ys | (x, rest) <- picks xs, ys <- permute rest]
    picks [] = []
    picks (x : xs) = (x, xs) : [(y, x : ys) | (y, ys) <- picks xs]

-- | The number of points of a square grid that stay near.
mandelbrot :: Int -> Int
mandelbrot n = length [() | y <- [0 .. n - 1], x <- [0 .. n - 1], stays (at x - 1.5) (at y - 1)]
  where
    at k = 2 * fromIntegral k / fromIntegral n :: Double
    stays a b = go (0 :: Int) 0 0
      where
        go !i !x !y
          | x * x + y * y > 4 = False
          | i == 50 = True
          | otherwise = go (i + 1) (x * x - y * y + a) (2 * x * y + b)

data Body = Body !Double !Double !Double !Double

-- | Two bodies around each other, for a number of steps.
nbody :: Int -> Int
nbody = go (Body 0 1 1 0) (Body 0 (-1) (-1) 0)
  where
    go :: Body -> Body -> Int -> Int
    go (Body x y _ _) (Body x' y' _ _) 0 = round (1e6 * (x * x + y * y + x' * x' + y' * y'))
    go a b n = let a' = move a b in go a' (move b a') (n - 1)
    move (Body x y u v) (Body x' y' _ _) =
      let dx = x' - x
          dy = y' - y
          pull = 1e-3 / (sqrt (dx * dx + dy * dy + 1e-3) ^ (3 :: Int))
          u' = u + dx * pull
          v' = v + dy * pull
       in Body (x + 1e-3 * u') (y + 1e-3 * v') u' v'

-- | The number of primes below a number.
sieve :: Int -> Int
sieve n = length (filter id (elems marks))
  where
    marks = runSTUArray $ do
      array <- newArray (2, n) True
      forM_ (takeWhile (\i -> i * i <= n) [2 ..]) (strike array)
      pure array
    strike :: STUArray s Int Bool -> Int -> ST s ()
    strike array i = do
      prime <- readArray array i
      when prime $ forM_ [i * i, i * i + i .. n] $ \k -> writeArray array k False

-- | The spectral norm of an infinite matrix, by lists.
spectral :: Int -> Int
spectral n = round (1e9 * sqrt (dot u v / dot v v))
  where
    (u, v) = iterate (\(a, _) -> let b = both a in (both b, b)) (replicate n 1, []) !! 3
    both x = times (flip entry) (times entry x)
    times f x = [List.foldl' (+) 0 (zipWith (\j a -> f i j * a) [0 ..] x) | i <- [0 .. n - 1]]
    dot x y = sum (zipWith (*) x y)
    entry :: Int -> Int -> Double
    entry i j = 1 / fromIntegral ((i + j) * (i + j + 1) `div` 2 + i + 1)
