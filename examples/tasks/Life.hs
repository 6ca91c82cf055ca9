{-# LANGUAGE BangPatterns #-}

-- | Conway's Game of Life on a torus, a byte for each cell, row after row. The rows of a step do not
-- depend on each other.
module Life (life) where

import Capstan.Task
import Data.Bits (unsafeShiftR, xor, (.|.))
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Storable.Mutable as M
import Data.Word (Word8)
import Example

type Board = M.IOVector Word8

-- | The length of a side, how many steps, the board, and room for the next one.
data Game = Game !Int !Int !Board !Board

-- | The next state of a cell, by itself and by how many live in its block of nine. Without a branch,
-- which would often be predicted wrongly: three neighbours, or two and the cell itself.
next :: Int -> Int -> Word8
next self count = fromIntegral (1 `unsafeShiftR` (((count - self) .|. self) `xor` 3) :: Int)
{-# INLINE next #-}

-- | The next state of a row. Going right, the sums of three columns slide along.
row :: Int -> Board -> Board -> Int -> IO ()
row n from to i = do
  (_, final) <- column (n - 1)
  (self, first) <- column 0
  go first 0 final self first
  where
    (above, here, below) = (n * ((i + n - 1) `mod` n), n * i, n * ((i + 1) `mod` n))
    -- A cell of the row, and the sum of its column.
    column :: Int -> IO (Int, Int)
    column j = do
      a <- M.unsafeRead from (above + j)
      b <- M.unsafeRead from (here + j)
      c <- M.unsafeRead from (below + j)
      pure (fromIntegral b, fromIntegral a + fromIntegral b + fromIntegral c)
    go :: Int -> Int -> Int -> Int -> Int -> IO ()
    go !first !j !left !self !middle
      | j + 1 == n = M.unsafeWrite to (here + j) (next self (left + middle + first))
      | otherwise = do
        (self', right) <- column (j + 1)
        M.unsafeWrite to (here + j) (next self (left + middle + right))
        go first (j + 1) middle self' right

play :: Each -> Game -> IO (V.Vector Word8)
play rows (Game n count first second) = go count first second
  where
    go 0 from _ = V.freeze from
    go k from to = rows n (row n from to) >> go (k - 1 :: Int) to from
{-# INLINE play #-}

life :: Example
life =
  Example
    { name = "life",
      sizeNames = "SIDE STEPS",
      usual = [1024, 512],
      small = [50, 7],
      prepare = \[n, count] -> do
        cells <- V.thaw (V.map (\x -> fromIntegral (x `mod` 2)) (V.convert (randoms (n * n))))
        Game n count cells <$> M.new (n * n),
      sequential = play (loop 0),
      parallel = play (parallelFor . range 0)
    }
