{-# LANGUAGE BangPatterns #-}

-- | Conway's Game of Life on a torus, a byte for each cell, row after row. With tasks, a band of
-- rows waits for itself and its neighbours in the step before, not for the whole board. So no
-- worker is idle at the end of a step.
module Life (life) where

import Capstan.Task
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Storable.Mutable as M
import Example
import Foreign (Ptr, Word8, peekElemOff, plusPtr, pokeElemOff, unsafeShiftR, xor, (.|.))

-- | The length of a side, the number of steps, the board, and room for the next board.
data Game = Game !Int !Int !(M.IOVector Word8) !(M.IOVector Word8)

-- | The next state of a cell, from its state and the number of living cells in its block of nine.
-- The function has no branch, which the processor would often predict wrongly.
next :: Word -> Word -> Word8
next self count = fromIntegral (((((count - self) .|. self) `xor` 3) - 1) `unsafeShiftR` 63)
{-# INLINE next #-}

-- | The next state of a row, from the rows around it. The loop goes right, and keeps the sums of
-- two columns.
row :: Int -> Ptr Word8 -> Ptr Word8 -> Ptr Word8 -> Ptr Word8 -> IO ()
row n above here below result = do
  (_, final) <- column (n - 1)
  (self, first) <- column 0
  go 1 (final + first) first self
  where
    -- A cell, and the sum of its column.
    column :: Int -> IO (Word, Word)
    column j = do
      a <- peekElemOff above j
      b <- peekElemOff here j
      c <- peekElemOff below j
      pure (fromIntegral b, fromIntegral a + fromIntegral b + fromIntegral c)
    -- The cell left of column j, from the sums of the two columns before column j.
    go :: Int -> Word -> Word -> Word -> IO ()
    go !j !two !middle !self
      | j == n = do
        (_, right) <- column 0
        pokeElemOff result (n - 1) (next self (two + right))
      | otherwise = do
        (self', right) <- column j
        pokeElemOff result (j - 1) (next self (two + right))
        go (j + 1) (middle + right) right self'

-- | Advances a row in a step: from the first board to the second, or back.
advance :: Game -> Int -> Int -> IO ()
advance (Game n _ a b) k i = M.unsafeWith (if even k then a else b) $ \old -> M.unsafeWith (if even k then b else a) $ \new ->
  let line board j = board `plusPtr` (n * (j `mod` n))
   in row n (line old (i + n - 1)) (line old i) (line old (i + 1)) (line new i)

-- | Each worker has four bands of rows. The outer two bands come first, so that its neighbours have
-- them when they need them, and seldom wait.
bands :: Game -> IO ()
bands game@(Game n count _ _) = do
  workers <- poolSize defaultPool
  let whole = 4 * workers
      turn k = [0, 3, 2, 1] !! k
      place index = (\k -> 4 * (k `rem` workers) + turn (k `quot` workers)) <$> index `quotRem` whole
      -- The bands of the step before; a negative index names no band. A band of a very small board
      -- may have no rows.
      near band = if n < whole then [0 .. whole - 1] else [band - 1 .. band + 1]
      neighbours (k, band) = [whole * (k - 1) + turn j * workers + i | other <- near band, let (i, j) = (other `mod` whole) `quotRem` 4]
      rows (k, band) = loop (band * n `div` whole) ((band + 1) * n `div` whole) (advance game k)
  parallelForAfter (range 0 (count * whole)) (neighbours . place) (rows . place)

play :: (Game -> IO ()) -> Game -> IO (V.Vector Word8)
play run' game@(Game _ count first second) = run' game >> V.freeze (if even count then first else second)

life :: Example
life =
  Example
    { name = "life",
      sizeNames = "SIDE STEPS",
      usual = [1024, 512],
      small = [50, 7],
      prepare = \[n, count] ->
        Game n count <$> V.thaw (V.map (\x -> fromIntegral (x `mod` 2)) (V.convert (randoms (n * n)))) <*> M.new (n * n),
      sequential = play (\game@(Game n count _ _) -> loop 0 count (loop 0 n . advance game)),
      parallel = play bands
    }
