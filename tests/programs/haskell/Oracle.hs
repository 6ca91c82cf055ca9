-- | Matrices whose product, factors and solution are known exactly without a library. All
-- intermediate numbers are small multiples of a power of two, so the order of the sums does not
-- matter.
module Oracle
  ( Problem (..),
    problem,
    transposed,
    agree,
  )
where

import Control.Monad (unless)
import Data.Bits (shiftR, xor)
import qualified Data.Vector.Storable as V
import Data.Word (Word64)

-- | Square matrices by rows.
data Problem = Problem
  { size :: !Int,
    left, right, leftRight :: !(V.Vector Double),
    -- | The system and its factors, the first with ones on its diagonal. No step of the
    -- factorisation exchanges a pivot.
    system, lower, upper :: !(V.Vector Double),
    solution, rightSide :: !(V.Vector Double)
  }

problem :: Int -> Problem
problem n = Problem n a b (multiply n n a b) s l u x (multiply n 1 s x)
  where
    a = whole 1 (n * n)
    b = whole 2 (n * n)
    s = multiply n n l u
    l = square (\i j -> if i == j then 1 else if i > j then fraction (i * n + j) else 0)
    u = square (\i j -> if i == j then [1, 2, -4] !! (i `mod` 3) else if i < j then noise 4 (i * n + j) else 0)
    x = whole 5 n
    whole seed count = V.generate count (noise seed)
    fraction = (/ 16) . noise 3
    square f = V.generate (n * n) (\k -> uncurry f (k `divMod` n))

-- | A pseudo-random number from -8 to 8.
noise :: Word64 -> Int -> Double
noise seed i = fromIntegral (mixed `mod` 17) - 8
  where
    mixed = scrambled (scrambled (seed * 0x9e3779b97f4a7c15 + fromIntegral i))
    scrambled z = (z `xor` (z `shiftR` 29)) * 0xbf58476d1ce4e5b9 `xor` (z `shiftR` 32)

-- | Multiplies a square matrix by a matrix with a given number of columns.
multiply :: Int -> Int -> V.Vector Double -> V.Vector Double -> V.Vector Double
multiply n columns a b = V.generate (n * columns) (\k -> let (i, j) = k `divMod` columns in element i j)
  where
    element i j = go 0 0
      where
        go :: Int -> Double -> Double
        go k total
          | k == n = total
          | otherwise = go (k + 1) (total + V.unsafeIndex a (i * n + k) * V.unsafeIndex b (k * columns + j))

transposed :: Int -> V.Vector Double -> V.Vector Double
transposed n a = V.generate (n * n) (\k -> let (i, j) = k `divMod` n in a V.! (j * n + i))

-- | Ends the program unless the two vectors agree.
agree :: String -> V.Vector Double -> V.Vector Double -> IO ()
agree name wanted got = do
  unless (V.length wanted == V.length got) (error (name ++ ": " ++ show (V.length got) ++ " numbers, not " ++ show (V.length wanted)))
  -- A comparison with a NaN is false.
  unless (V.and (V.zipWith (\a b -> abs (a - b) <= 1e-9) wanted got)) $
    error (name ++ ": the numbers differ by " ++ show (V.maximum (V.zipWith (\a b -> abs (a - b)) wanted got)))
