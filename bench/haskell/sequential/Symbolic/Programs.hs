{-# LANGUAGE BangPatterns #-}

-- | Programs that build and search. Each returns a checksum.
module Symbolic.Programs (knapsack, life, queens, trees, wordCount) where

import Data.Array (listArray, (!))
import Data.Bits (shiftR, xor)
import qualified Data.List as List
import qualified Data.Map.Strict as Map
import qualified Data.Set as Set

-- | The best value of a number of things within a weight, by a lazy table.
knapsack :: Int -> Int -> Int
knapsack things limit = table ! (things, limit)
  where
    table = listArray ((0, 0), (things, limit)) [best i w | i <- [0 .. things], w <- [0 .. limit]]
    best 0 _ = 0
    best i w
      | weight i > w = without
      | otherwise = max without (value i + table ! (i - 1, w - weight i))
      where
        without = table ! (i - 1, w)
    weight i = 10 + (i * 7919) `mod` 90
    value i = (i * 104729) `mod` 100 :: Int

-- | The number of living cells of a torus after a number of generations.
life :: Int -> Int -> Int
life size generations = Set.size (iterate step start !! generations)
  where
    start = Set.fromList [(x, y) | x <- [0 .. size - 1], y <- [0 .. size - 1], (x * 7 + y * 13 + x * y) `mod` 5 < 2]
    step cells = Map.keysSet (Map.filterWithKey (lives cells) (neighbours cells))
    lives cells cell n = n == 3 || (n == 2 && Set.member cell cells)
    neighbours cells = Map.fromListWith (+) [(c, 1 :: Int) | cell <- Set.toList cells, c <- around cell]
    around (x, y) = [((x + i) `mod` size, (y + j) `mod` size) | i <- [-1, 0, 1], j <- [-1, 0, 1], (i, j) /= (0, 0)]

-- | The number of ways to place @n@ queens that do not attack each other.
queens :: Int -> Int
queens n = length (foldr place [[]] [1 .. n])
  where
    place _ boards = [q : board | board <- boards, q <- [1 .. n], safe q board]
    safe q board = and [q /= c && abs (q - c) /= d | (d, c) <- zip [1 ..] board]

data Tree = Leaf | Node Tree Tree

-- | The number of nodes of complete binary trees of all depths up to a depth.
trees :: Int -> Int
trees depth = sum [count (grow d) | d <- [0 .. depth]]
  where
    grow :: Int -> Tree
    grow 0 = Leaf
    grow d = Node (grow (d - 1)) (grow (d - 1))
    count Leaf = 1
    count (Node l r) = 1 + count l + count r

-- | The most frequent word of a text that a generator wrote.
wordCount :: Int -> Int
wordCount n = maximum (Map.elems counts) + Map.size counts
  where
    counts = List.foldl' (\m w -> Map.insertWith (+) w 1 m) Map.empty (words text)
    text = unwords (map name (take n (generate 1)))
    name k = show (k `mod` 997) ++ "th"
    generate :: Int -> [Int]
    generate !x = (x `shiftR` 8) : generate ((x * 1103515245 + 12345) `mod` 2147483648 `xor` 1)
