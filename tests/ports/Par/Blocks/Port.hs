-- | The length of the longest common subsequence of two texts, by blocks that wait for their
-- neighbours.
module Par.Blocks.Port (program) where

import Capstan.Task.Par (Par, fork, get, new, newFull, put, runPar)
import Control.Monad (forM, forM_)
import qualified Data.Map as Map
import Par.Blocks.Block (block, border, corner)

program :: Int -> IO Int
program blocks = pure $! runPar (common blocks)

common :: Int -> Par Int
common blocks = do
  inner <- forM [(row, column) | row <- [1 .. blocks], column <- [1 .. blocks]] $ \at -> (,) at <$> new
  outer <- forM ((0, 0) : concat [[(k, 0), (0, k)] | k <- [1 .. blocks]]) $ \at -> (,) at <$> newFull border
  let edges = Map.fromList (inner ++ outer)
  forM_ inner $ \((row, column), here) -> fork $ do
    above <- get (edges Map.! (row - 1, column))
    left <- get (edges Map.! (row, column - 1))
    put here (block row column above left)
  corner <$> get (edges Map.! (blocks, blocks))
