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
import Foreign.Ptr (Ptr, plusPtr)
import Foreign.Storable (peekElemOff, pokeElemOff)

type Board = M.IOVector Word8

-- | The length of a side, how many steps, the board, and room for the next one.
data Game = Game !Int !Int !Board !Board

-- | The next state of a cell, by itself and by how many live in its block of nine: 1 if it has three
-- neighbours, or two and lives. Without a branch, which would often be predicted wrongly.
next :: Word -> Word -> Word8
next self count = fromIntegral (((((count - self) .|. self) `xor` 3) - 1) `unsafeShiftR` 63)
{-# INLINE next #-}

-- | The next state of a row, from the rows around it. Going right, the sums of two columns slide along.
row :: Int -> Ptr Word8 -> Ptr Word8 -> Ptr Word8 -> Ptr Word8 -> IO ()
row n above here below result = do
  (_, final) <- column (n - 1)
  (self, first) <- column 0
  go 1 (final + first) first self
  where
    -- A cell of the row, and the sum of its column.
    column :: Int -> IO (Word, Word)
    column j = do
      a <- peekElemOff above j
      b <- peekElemOff here j
      c <- peekElemOff below j
      pure (fromIntegral b, fromIntegral a + fromIntegral b + fromIntegral c)
    -- The cell left of the column j, by the sums of the two columns before that.
    go :: Int -> Word -> Word -> Word -> IO ()
    go !j !two !middle !self
      | j == n = do
        (_, right) <- column 0
        pokeElemOff result (n - 1) (next self (two + right))
      | otherwise = do
        (self', right) <- column j
        pokeElemOff result (j - 1) (next self (two + right))
        go (j + 1) (middle + right) right self'

play :: Each -> Game -> IO (V.Vector Word8)
play rows (Game n count first second) = go count first second
  where
    go 0 from _ = V.freeze from
    go k from to = do
      M.unsafeWith from $ \old -> M.unsafeWith to $ \new -> rows n $ \i ->
        let line board k' = board `plusPtr` (n * (k' `mod` n))
         in row n (line old (i + n - 1)) (line old i) (line old (i + 1)) (line new i)
      go (k - 1 :: Int) to from
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
