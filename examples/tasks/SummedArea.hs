{-# LANGUAGE BangPatterns #-}

-- | A summed-area table in place: each element becomes the sum of all those above and to the left,
-- its own row and column with them. Tiles on one diagonal do not depend on each other, so one pass
-- over the memory is enough.
module SummedArea (summedArea) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Data.Word (Word32)
import Example

type Table = M.IOVector Word32

-- | The elements of some rows and columns; those above and to the left are done.
block :: Int -> Table -> (Int, Int) -> (Int, Int) -> IO ()
block n table (top, bottom) (left, right) = loop top bottom row
  where
    row i = do
      before <- if left == 0 then pure 0 else sumLeft i
      go i left before
    -- The sum of the row's elements to the left: the table there, less the table above it.
    sumLeft :: Int -> IO Word32
    sumLeft i = (-) <$> M.unsafeRead table (i * n + left - 1) <*> above i (left - 1)
    above :: Int -> Int -> IO Word32
    above i j = if i == 0 then pure 0 else M.unsafeRead table ((i - 1) * n + j)
    go :: Int -> Int -> Word32 -> IO ()
    go i j !acc
      | j >= right = pure ()
      | otherwise = do
        x <- M.unsafeRead table (i * n + j)
        up <- above i j
        M.unsafeWrite table (i * n + j) (acc + x + up)
        go i (j + 1) (acc + x)

-- | Tiles are low and wide: memory is read along rows.
tiles :: Int -> Int -> Table -> IO ()
tiles n height table = loop 0 (down + across - 1) diagonal
  where
    width = 16 * height
    (down, across) = (pieces height, pieces width)
    pieces side = (n + side - 1) `div` side
    piece side k = (k * side, min n ((k + 1) * side))
    diagonal d =
      parallelFor (chunk 1 (range (max 0 (d - across + 1)) (min down (d + 1)))) $ \i ->
        block n table (piece height i) (piece width (d - i))

summedArea :: Example
summedArea =
  Example
    { name = "summed-area-table",
      sizeNames = "SIDE HEIGHT",
      usual = [4096, 32],
      small = [100, 3],
      prepare = \[n, height] -> do
        table <- V.thaw (V.map (\x -> fromIntegral (x `mod` 256)) (randoms (n * n)))
        pure (n, height, table),
      sequential = \(n, _, table) -> block n table (0, n) (0, n) >> V.unsafeFreeze table,
      parallel = \(n, height, table) -> tiles n height table >> V.unsafeFreeze table
    }
