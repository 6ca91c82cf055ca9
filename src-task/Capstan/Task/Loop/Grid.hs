-- |
-- Module      : Capstan.Task.Loop.Grid
-- Description : Loops over several dimensions, by tiles
--
-- A grid is a number of tiles, with a loop over the indices of a tile. The loop over one range runs
-- the tiles.
module Capstan.Task.Loop.Grid
  ( Grid,
    along,
    crossing,
    parallelForGrid,
  )
where

import Capstan.Exception (throwInvalid)
import Capstan.Task.Loop.For
import Capstan.Task.Pool (Pool)
import Control.Monad (when)
import GHC.Stack (HasCallStack)

-- | Indices of one or several dimensions, in tiles: the pool that runs them, the number of tiles,
-- and the loop over a tile. The number may exceed an 'Int'; then no tile is run.
data Grid i = Grid !Pool !Integer (Int -> (i -> IO ()) -> IO ())

-- | A grid of one dimension, on the pool of the range. A tile has the indices of a 'chunk' of the
-- range, or one index if the range has no 'chunk'.
along :: Range -> Grid Int
along indices = Grid (workers indices) (toInteger (piecesOf size indices)) (piece size indices)
  where
    size = fromIntegral (max 1 (grain indices))
{-# INLINE along #-}

-- | Adds a dimension. In this dimension a tile has the indices of a 'chunk' of the range, or all of
-- them if the range has no 'chunk'. A grid may have at most 'maxBound' tiles.
--
-- > along (range 0 height) `crossing` range 0 width            -- rows
-- > along (chunk 32 (range 0 height)) `crossing` chunk 32 (range 0 width)
crossing :: Grid i -> Range -> Grid (i, Int)
crossing (Grid pool tiles run) indices = Grid pool (tiles * toInteger pieces) $ \tile body ->
  run (tile `quot` across) (\i -> piece size indices (tile `rem` across) (\j -> body (i, j)))
  where
    size = if grain indices > 0 then fromIntegral (grain indices) else max 1 (lengthOf indices)
    pieces = piecesOf size indices
    -- If a tile is run, the number of tiles is an 'Int', and so is this number.
    across = fromIntegral pieces
{-# INLINE crossing #-}

-- | Runs the body for each index of the grid. The order of tiles is unspecified. The indices of a
-- tile run in their order, and those of the last dimension change fastest. If a body throws, the
-- other bodies are interrupted, and the loop throws the exception again.
--
-- > parallelForGrid (along (chunk 32 (range 0 n)) `crossing` chunk 32 (range 0 n)) $ \(i, j) ->
-- >   write transposed (n * i + j) (matrix ! (n * j + i))
--
-- Several small tiles run as one piece, as 'parallelFor' runs indices. Costs some nanoseconds for
-- each tile, and nothing for an index. Throws an 'Capstan.Exception.InvalidArgument' if the grid has
-- more than 'maxBound' tiles. Bodies must not wait for each other: see 'parallelFor'.
parallelForGrid :: HasCallStack => Grid i -> (i -> IO ()) -> IO ()
parallelForGrid (Grid pool tiles run) body = countOf tiles >>= \count -> parallelFor (onPool pool (range 0 count)) (`run` body)
{-# INLINE parallelForGrid #-}

-- | The number of tiles as an 'Int'.
countOf :: HasCallStack => Integer -> IO Int
countOf tiles
  | tiles <= toInteger (maxBound :: Int) = pure (fromInteger tiles)
  | otherwise = throwInvalid ("Capstan.Task.parallelForGrid: the grid has " ++ show tiles ++ " tiles; it may have at most " ++ show (maxBound :: Int) ++ ", so give its ranges larger chunks")
{-# NOINLINE countOf #-}

-- | The number of indices of a range. It may exceed an 'Int'.
lengthOf :: Range -> Word
lengthOf indices = if high indices <= low indices then 0 else remaining (low indices) (high indices)

-- | The number of pieces of a size in a range.
piecesOf :: Word -> Range -> Word
piecesOf size indices = if count == 0 then 0 else (count - 1) `quot` size + 1
  where
    count = lengthOf indices
{-# INLINE piecesOf #-}

-- | Runs the body for each index of a piece. The arithmetic is modulo 2^64, and the ends of a piece
-- lie in the range, so they are exact.
piece :: Word -> Range -> Int -> (Int -> IO ()) -> IO ()
piece size indices number body = go from
  where
    from = low indices + number * fromIntegral size
    to = if remaining from (high indices) < size then high indices else from + fromIntegral size
    go i = when (i < to) (body i >> go (i + 1))
{-# INLINE piece #-}
