-- |
-- Module      : Capstan.Task.Loop.Grid
-- Description : Loops over several dimensions, by tiles
--
-- A grid is a number of tiles, and a loop over the indices of each. The loop over one range runs the tiles.
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

-- | Indices of one dimension or of several, in tiles: where they run, how many tiles there are, and the loop over one of them.
data Grid i = Grid !Pool !Int (Int -> (i -> IO ()) -> IO ())

-- | One dimension, on the pool of that range. A tile has as many indices as a 'chunk' of the range, one if there is none.
along :: Range -> Grid Int
along indices = Grid (workers indices) (piecesOf size indices) (piece size indices)
  where
    size = max 1 (grain indices)
{-# INLINE along #-}

-- | One more dimension. A tile has as many of its indices as a 'chunk' of the range: all of them if there is none. There may be at most
-- 'maxBound' tiles.
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

-- | Runs the body for each index of the grid, in no order that could be relied on, but a tile's indices in their order, those of the last
-- dimension fastest. If a body throws, the others are interrupted and the exception is thrown again.
--
-- > parallelForGrid (along (chunk 32 (range 0 n)) `crossing` chunk 32 (range 0 n)) $ \(i, j) ->
-- >   write transposed (n * i + j) (matrix ! (n * j + i))
--
-- Small tiles are run several at a time, as 'parallelFor' runs indices. Costs some nanoseconds for each tile, and nothing for an index.
parallelForGrid :: Grid i -> (i -> IO ()) -> IO ()
parallelForGrid (Grid pool tiles run) body = parallelFor (onPool pool (range 0 tiles)) (`run` body)
{-# INLINE parallelForGrid #-}

lengthOf :: Range -> Int
lengthOf indices = if high indices <= low indices then 0 else remaining (low indices) (high indices)

-- | How many pieces of a size a range has.
piecesOf :: Int -> Range -> Int
piecesOf size indices = (lengthOf indices - 1 + size) `quot` size
{-# INLINE piecesOf #-}

-- | The body for each index of a piece.
piece :: Int -> Range -> Int -> (Int -> IO ()) -> IO ()
piece size indices number body = go from
  where
    from = low indices + number * size
    to = if remaining from (high indices) < size then high indices else from + size
    go i = when (i < to) (body i >> go (i + 1))
{-# INLINE piece #-}
