-- | A block of the table of the longest common subsequence, which both programs compute alike.
module Par.Blocks.Block
  ( Edges,
    border,
    block,
    corner,
  )
where

import qualified Data.Vector.Unboxed as U

-- | The last row and the last column of a block. Both begin in the corner before the block.
type Edges = (U.Vector Int, U.Vector Int)

-- | The rows and columns of a block.
side :: Int
side = 64

-- | The edges of a block outside of the table.
border :: Edges
border = (zeros, zeros)
  where
    zeros = U.replicate (side + 1) 0

-- | The edges of a block, from those of the blocks above it and to its left.
block :: Int -> Int -> Edges -> Edges -> Edges
block row column (top, _) (_, left) = (last rows, U.fromList (map U.last rows))
  where
    rows = scanl line top [1 .. side]
    line above r = U.constructN (side + 1) (cell above r)
    cell above r known
      | U.null known = left U.! r
      | here == there = above U.! (c - 1) + 1
      | otherwise = max (U.last known) (above U.! c)
      where
        c = U.length known
        here = letter 1 ((row - 1) * side + r)
        there = letter 2 ((column - 1) * side + c)

-- | A letter of a text.
letter :: Int -> Int -> Int
letter text at = (at * at * 7 + at * text) `mod` 1009 `mod` 4

-- | The last entry of a block.
corner :: Edges -> Int
corner (bottom, _) = U.last bottom
