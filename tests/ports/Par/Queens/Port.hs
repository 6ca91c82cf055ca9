-- | The ways to place queens on a board, so that none attacks another; the first two rows are tried in parallel.
module Par.Queens.Port (program) where

import Capstan.Task (parMap)

program :: Int -> IO Int
program size = pure $! sum (parMap (ways size) [[a, b] | a <- [1 .. size], b <- [1 .. size], safe a [b]])

-- | How many ways there are from some rows on.
ways :: Int -> [Int] -> Int
ways size rows
  | length rows == size = 1
  | otherwise = sum [ways size (column : rows) | column <- [1 .. size], safe column rows]

safe :: Int -> [Int] -> Bool
safe column rows = and [column /= other && abs (column - other) /= distance | (distance, other) <- zip [1 ..] rows]
