{-# LANGUAGE BangPatterns #-}

-- | A summed-area table in place: each element becomes the sum of all those above and to the left,
-- its own row and column with them. With tasks the table is cut into one stripe for each Capability; a block of rows of a
-- stripe waits for the one above it and the one to the left. One pass over the memory is enough.
module SummedArea (summedArea) where

import Capstan.Task
import Control.Monad (zipWithM_)
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Data.Word (Word32)
import Example

type Table = M.IOVector Word32

-- | The elements of some rows and columns; those above and to the left are done.
block :: Int -> Table -> (Int, Int) -> (Int, Int) -> IO ()
block n table (top, bottom) (left, right) = do
  -- Another processor has just written these. All are asked for at once, and not each before its row.
  sums <- mapM before [top .. bottom - 1]
  zipWithM_ (\i -> go (i * n + left) (i * n + right)) [top ..] sums
  where
    before i
      | left == 0 = pure 0
      | otherwise = do
        this <- at (i * n + left - 1)
        up <- at ((i - 1) * n + left - 1)
        pure $! this - up
    -- Nothing is above the first row.
    at :: Int -> IO Word
    at k = if k < 0 then pure 0 else fromIntegral <$> M.unsafeRead table k
    -- From one place to another, from the sum of the row's elements to the left.
    go, below :: Int -> Int -> Word -> IO ()
    go k end sums
      | k >= n = below k end sums
      | k < end = add k (pure 0) sums >>= go (k + 1) end
      | otherwise = pure ()
    -- Four at once, as more variables take part than there are registers.
    below k end sums
      | k + 4 <= end = step k sums >>= step (k + 1) >>= step (k + 2) >>= step (k + 3) >>= below (k + 4) end
      | k < end = step k sums >>= below (k + 1) end
      | otherwise = pure ()
    step k = add k (M.unsafeRead table (k - n))
    add :: Int -> IO Word32 -> Word -> IO Word
    add k above sums = do
      x <- M.unsafeRead table k
      up <- above
      let !sums' = sums + fromIntegral x
      sums' <$ M.unsafeWrite table k (fromIntegral (sums' + fromIntegral up))
    {-# INLINE add #-}

-- | In the order of time, as each stripe is a block behind the one to its left. Four indices of a worker are four times of its stripe.
stripes :: Int -> Int -> Table -> IO ()
stripes n height table = do
  across <- poolSize defaultPool
  let down = (n + height - 1) `quot` height
      there i j = i >= 0 && i < down && j >= 0 && j < across
      place number = let (four, this) = number `quotRem` (4 * across); (j, time) = this `quotRem` 4 in (4 * four + time - j, j)
      index (i, j) = let (four, time) = (i + j) `quotRem` 4 in 4 * (four * across + j) + time
      before this = let (i, j) = place this in [index at | at@(i', j') <- [(i - 1, j), (i, j - 1)], there i' j']
  parallelForAfter (range 0 ((down + across + 2) `quot` 4 * 4 * across)) before $ \this ->
    let (i, j) = place this
        cut k = k * n `quot` across
     in if there i j then block n table (i * height, min n ((i + 1) * height)) (cut j, cut (j + 1)) else pure ()

summedArea :: Example
summedArea =
  Example
    { name = "summed-area-table",
      sizeNames = "SIDE HEIGHT",
      usual = [4096, 16],
      small = [100, 3],
      prepare = \[n, height] -> do
        table <- V.thaw (V.map (\x -> fromIntegral (x `mod` 256)) (randoms (n * n)))
        pure (n, height, table),
      sequential = \(n, _, table) -> block n table (0, n) (0, n) >> V.unsafeFreeze table,
      parallel = \(n, height, table) -> stripes n height table >> V.unsafeFreeze table
    }
