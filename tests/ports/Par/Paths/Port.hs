-- | The lengths of the shortest paths between any two nodes of a graph, by Floyd's algorithm with
-- its rows in parallel.
module Par.Paths.Port (program) where

import Capstan.Task.Par (Par, parMap, runPar)
import Data.List (foldl')
import qualified Data.Vector.Unboxed as U

program :: Int -> IO Int
program nodes = pure $! foldl' (\whole row -> (whole * 31 + U.sum row) `mod` 1000003) 0 (runPar (shortest 0 graph))
  where
    graph = [U.generate nodes (distance row) | row <- [0 .. nodes - 1]]
    distance row column
      | row == column = 0
      | (row * 17 + column * 31) `mod` 5 == 0 = 1 + (row * column) `mod` 97
      | otherwise = 1000000

-- | Paths that may pass the nodes from a number on.
shortest :: Int -> [U.Vector Int] -> Par [U.Vector Int]
shortest node rows
  | node == length rows = pure rows
  | otherwise = parMap through rows >>= shortest (node + 1)
  where
    there = rows !! node
    through row = let to = row U.! node in U.zipWith (\direct from -> min direct (to + from)) row there
