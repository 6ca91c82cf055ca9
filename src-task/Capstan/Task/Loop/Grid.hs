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

import Capstan.Task.Loop.For
import Capstan.Task.Pool (Pool)
import Control.Monad (when)

-- | Indices of one or several dimensions, in tiles: the pool that runs them, the number of tiles,
-- and the loop over a tile.
data Grid i = Grid !Pool !Int (Int -> (i -> IO ()) -> IO ())

-- | A grid of one dimension, on the pool of the range. A tile has the indices of a 'chunk' of the
-- range, or one index if the range has no 'chunk'.
along :: Range -> Grid Int
along indices = Grid (workers indices) (piecesOf size indices) (piece size indices)
  where
    size = max 1 (grain indices)
{-# INLINE along #-}

-- | Adds a dimension. In this dimension a tile has the indices of a 'chunk' of the range, or all of
-- them if the range has no 'chunk'. A grid may have at most 'maxBound' tiles.
--
-- > along (range 0 height) `crossing` range 0 width            -- rows
-- > along (chunk 32 (range 0 height)) `crossing` chunk 32 (range 0 width)
crossing :: Grid i -> Range -> Grid (i, Int)
crossing (Grid pool tiles run) indices = Grid pool (tiles * across) $ \tile body ->
  run (tile `quot` across) (\i -> piece size indices (tile `rem` across) (\j -> body (i, j)))
  where
    size = if grain indices > 0 then grain indices else max 1 (lengthOf indices)
    across = piecesOf size indices
{-# INLINE crossing #-}

-- | Runs the body for each index of the grid. The order of tiles is unspecified. The indices of a
-- tile run in their order, and those of the last dimension change fastest. If a body throws, the
-- other bodies are interrupted, and the loop throws the exception again.
--
-- > parallelForGrid (along (chunk 32 (range 0 n)) `crossing` chunk 32 (range 0 n)) $ \(i, j) ->
-- >   write transposed (n * i + j) (matrix ! (n * j + i))
--
-- Several small tiles run as one piece, as 'parallelFor' runs indices. Costs some nanoseconds for
-- each tile, and nothing for an index.
parallelForGrid :: Grid i -> (i -> IO ()) -> IO ()
parallelForGrid (Grid pool tiles run) body = parallelFor (onPool pool (range 0 tiles)) (`run` body)
{-# INLINE parallelForGrid #-}

lengthOf :: Range -> Int
lengthOf indices = if high indices <= low indices then 0 else remaining (low indices) (high indices)

-- | The number of pieces of a size in a range.
piecesOf :: Int -> Range -> Int
piecesOf size indices = (lengthOf indices - 1 + size) `quot` size
{-# INLINE piecesOf #-}

-- | Runs the body for each index of a piece.
piece :: Int -> Range -> Int -> (Int -> IO ()) -> IO ()
piece size indices number body = go from
  where
    from = low indices + number * size
    to = if remaining from (high indices) < size then high indices else from + size
    go i = when (i < to) (body i >> go (i + 1))
{-# INLINE piece #-}
