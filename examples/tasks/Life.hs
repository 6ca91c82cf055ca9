-- | Conway's Game of Life on a torus, a byte for each cell, row after row. The rows of a step do not
-- depend on each other.
module Life (life) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Data.Word (Word8)
import Example

type Board = M.IOVector Word8

-- | The length of a side, how many steps, the board, and room for the next one.
data Game = Game !Int !Int !Board !Board

-- | The next state of a cell, by how many live in its block of nine, and whether it lives itself.
rule :: V.Vector Word8
rule = V.fromList [if count == 3 || count == 4 && self == 1 then 1 else 0 | count <- [0 .. 9 :: Int], self <- [0, 1 :: Int]]

-- | The next state of a row. Going right, the sums of three columns slide along. The rule is looked
-- up, for a branch would often be predicted wrongly.
row :: Int -> Board -> Board -> Int -> IO ()
row n from to i = do
  first <- column 0
  lastSum <- column (n - 1)
  beyond <- go 0 lastSum first
  settle (n - 1) (beyond + first)
  where
    (above, here, below) = (n * ((i + n - 1) `mod` n), n * i, n * ((i + 1) `mod` n))
    column :: Int -> IO Int
    column j = do
      a <- M.unsafeRead from (above + j)
      b <- M.unsafeRead from (here + j)
      c <- M.unsafeRead from (below + j)
      pure (fromIntegral a + fromIntegral b + fromIntegral c)
    settle :: Int -> Int -> IO ()
    settle j count = do
      self <- M.unsafeRead from (here + j)
      M.unsafeWrite to (here + j) (V.unsafeIndex rule (2 * count + fromIntegral self))
    -- All but the last cell; returns the sums of the last two columns.
    go :: Int -> Int -> Int -> IO Int
    go j left middle
      | j + 1 == n = pure (left + middle)
      | otherwise = do
        right <- column (j + 1)
        settle j (left + middle + right)
        go (j + 1) middle right

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
        cells <- V.thaw (V.map (\x -> fromIntegral (x `mod` 2)) (randoms (n * n)))
        Game n count cells <$> M.new (n * n),
      sequential = play (loop 0),
      parallel = play (parallelFor . range 0)
    }
