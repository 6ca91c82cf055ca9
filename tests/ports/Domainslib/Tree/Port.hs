-- | The sum over a binary tree, whose branches are taken at the same time where they are large.
module Domainslib.Tree.Port (program) where

import Capstan.Task

data Tree = Leaf !Int | Node Tree Tree

grow :: Int -> Int -> Tree
grow depth n = if depth == 0 then Leaf n else Node (grow (depth - 1) (2 * n)) (grow (depth - 1) (2 * n + 1))

total :: Tree -> Int
total (Leaf n) = n * n `mod` 1009
total (Node left right) = total left + total right

totalTasks :: Scope -> Int -> Tree -> IO Int
totalTasks scope depth (Node left right) | depth > 0 = do
  rightTotal <- async scope (totalTasks scope (depth - 1) right)
  leftTotal <- totalTasks scope (depth - 1) left
  (leftTotal +) <$> await rightTotal
totalTasks _ _ tree = pure (total tree)

program :: Int -> IO Int
program depth = run (\scope -> totalTasks scope (depth - 6) (grow depth 1))
