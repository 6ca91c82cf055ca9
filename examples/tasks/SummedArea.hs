{-# LANGUAGE BangPatterns #-}

-- | A summed-area table in place: each element becomes the sum of all elements above and to the
-- left, including its own row and column. With tasks, the Capabilities own bands of rows in turn. A
-- tile of a band waits for the tile above and the tile to the left. One pass is enough.
module SummedArea (summedArea) where

import Capstan.Task
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Storable.Mutable as M
import Data.Word (Word32)
import Example
import Foreign (Ptr, advancePtr, peek, poke)

-- | The number of columns, the number of groups of four rows, the number of groups in a band, and
-- the elements. The first row is zeros, and belongs to no group.
data Table = Table !Int !Int !Int !(M.IOVector Word32)

-- | Computes some columns of some groups of four rows; the elements above and to the left are done.
-- The loop handles four rows at once: it reads the row above them once. At the beginning of a row
-- memory is slow, and the four rows request it together.
block :: Int -> Ptr Word32 -> (Int, Int) -> (Int, Int) -> IO ()
block width table (top, bottom) (left, right) = loop top bottom $ \k -> do
  let place i j = table `advancePtr` ((4 * k + i) * width + j)
      -- The sum of a row's elements to the left.
      before i = if left == 0 then pure 0 else (-) <$> at (place i (left - 1)) <*> at (place (i - 1) (left - 1))
  (a, b) <- (,) <$> before 1 <*> before 2
  (c, d) <- (,) <$> before 3 <*> before 4
  go (place 1 left) (place 1 right) a b c d
  where
    at :: Ptr Word32 -> IO Word
    at p = fromIntegral <$> peek p
    put p x = poke p (fromIntegral (x :: Word)) :: IO ()
    -- Goes from one place of the first row to another.
    go :: Ptr Word32 -> Ptr Word32 -> Word -> Word -> Word -> Word -> IO ()
    go !p !end !a !b !c !d
      | p == end = pure ()
      | otherwise = do
        let row i = p `advancePtr` (i * width)
        above <- at (row (-1))
        a' <- (a +) <$> at p
        b' <- (b +) <$> at (row 1)
        c' <- (c +) <$> at (row 2)
        d' <- (d +) <$> at (row 3)
        let !first = above + a'
            !second = first + b'
            !third = second + c'
        put p first >> put (row 1) second >> put (row 2) third >> put (row 3) (third + d')
        go (p `advancePtr` 1) end a' b' c' d'

-- | Goes in the order of time: each task computes a band, and each band is one tile behind the band
-- above.
bands :: Table -> Ptr Word32 -> IO ()
bands (Table width fours height _) table = do
  across <- poolSize defaultPool
  let down = (fours + height - 1) `quot` height
      number (band, tile) = (band `quot` across * tiles + tile) * across + band `rem` across
      place index = let (time, j) = index `quotRem` across in (time `quot` tiles * across + j, time `rem` tiles)
      before index = let (band, tile) = place index in [number there | there@(i, j) <- [(band - 1, tile), (band, tile - 1)], i >= 0, j >= 0]
      rows band = (min fours (band * height), min fours ((band + 1) * height))
      cut tile = tile * width `quot` tiles
  parallelForAfter (range 0 ((down + across - 1) `quot` across * tiles * across)) before $ \index ->
    let (band, tile) = place index in block width table (rows band) (cut tile, cut (tile + 1))
  where
    tiles = 4

summedArea :: Example
summedArea =
  Example
    { name = "summed-area-table",
      sizeNames = "WIDTH FOURS HEIGHT",
      usual = [4096, 1024, 48],
      small = [100, 30, 3],
      prepare = \[width, fours, height] -> do
        let element k x = if k < width then 0 else fromIntegral (x `mod` 256)
        Table width fours height <$> V.thaw (V.imap element (V.convert (randoms (width * (1 + 4 * fours))))),
      sequential = \t@(Table width fours _ elements) -> M.unsafeWith elements (\table -> block width table (0, fours) (0, width)) >> done t,
      parallel = \t@(Table _ _ _ elements) -> M.unsafeWith elements (bands t) >> done t
    }
  where
    done :: Table -> IO (V.Vector Word32)
    done (Table _ _ _ elements) = V.unsafeFreeze elements
