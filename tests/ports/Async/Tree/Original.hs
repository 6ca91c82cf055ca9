-- | The sum over a binary tree, whose branches are taken at the same time down to the leaves.
module Async.Tree.Original (program) where

import Control.Concurrent.Async (concurrently)

data Tree
  = Leaf !Int
  | Node Tree Tree

program :: Int -> IO Int
program depth = total (grow depth 1)

grow :: Int -> Int -> Tree
grow 0 n = Leaf n
grow depth n = Node (grow (depth - 1) (2 * n)) (grow (depth - 1) (2 * n + 1))

total :: Tree -> IO Int
total (Leaf n) = pure (n * n `mod` 1009)
total (Node left right) = do
  (a, b) <- concurrently (total left) (total right)
  pure $! a + b
