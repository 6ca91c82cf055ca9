{-# LANGUAGE BangPatterns #-}

-- | A summed-area table in place: each element becomes the sum of all those above and to the left,
-- its own row and column with them. With tasks the table is cut into one stripe for each Capability; a block of rows of a
-- stripe waits for the one above it and the one to the left. One pass over the memory is enough.
module SummedArea (summedArea) where

import Capstan.Task
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Storable.Mutable as M
import Data.Word (Word32)
import Example
import Foreign (Ptr, advancePtr, alignPtr, minusPtr, peek, poke)

-- | How far it is from row to row, how many columns, fours of rows, how many of these are a block, and the elements. The first row is zeros, and
-- not counted with the fours. Rows begin where pages do, and so do stripes: what a processor fetches ahead ends with the page.
data Table = Table !Int !Int !Int !Int !(M.IOVector Word32)

-- | Some fours of rows, some columns of them; what is above and to the left is done. Four rows at once: what is above them is read once,
-- and the memory, which is late where a row begins, is asked for all.
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
    -- From one place of the first row to another.
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

-- | In the order of time, as each stripe is a block behind the one to its left.
stripes :: Table -> Ptr Word32 -> IO ()
stripes (Table width columns fours height _) table = do
  across <- poolSize defaultPool
  let down = (fours + height - 1) `quot` height
      place index = let (time, j) = index `quotRem` across in (time - j, j)
      there (i, j) = i >= 0 && i < down && j >= 0
      before index = let (i, j) = place index in [(i' + j') * across + j' | (i', j') <- [(i - 1, j), (i, j - 1)], there (i', j')]
      rows i = (i * height, min fours ((i + 1) * height))
      cut j = if j == across then columns else pages (j * columns `quot` across)
  parallelForAfter (range 0 ((down + across - 1) * across)) before $ \index ->
    let (i, j) = place index in if there (i, j) then block width table (rows i) (cut j, cut (j + 1)) else pure ()

summedArea :: Example
summedArea =
  Example
    { name = "summed-area-table",
      sizeNames = "WIDTH FOURS HEIGHT",
      usual = [4096, 1024, 4],
      small = [100, 30, 3],
      prepare = \[columns, fours, height] -> do
        let width = pages columns
            size = width * (1 + 4 * fours)
            element k x = if k < width || k `rem` width >= columns then 0 else fromIntegral (x `mod` 256)
        whole <- M.unsafeNew (size + page)
        ahead <- M.unsafeWith whole (\p -> pure (alignPtr p (4 * page) `minusPtr` p `quot` 4))
        let elements = M.slice ahead size whole
        V.copy elements (V.imap element (V.convert (randoms size)))
        pure (Table width columns fours height elements),
      sequential = \t@(Table width columns fours _ elements) -> M.unsafeWith elements (\table -> block width table (0, fours) (0, columns)) >> done t,
      parallel = \t@(Table _ _ _ _ elements) -> M.unsafeWith elements (stripes t) >> done t
    }
  where
    done :: Table -> IO (V.Vector Word32)
    done (Table _ _ _ _ elements) = V.unsafeFreeze elements

-- | So many elements are a page.
page :: Int
page = 1024

-- | The same or more, in whole pages.
pages :: Int -> Int
pages n = (n + page - 1) `quot` page * page
