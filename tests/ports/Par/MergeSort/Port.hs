-- | A list sorted by halves, which are sorted at the same time while they are long.
module Par.MergeSort.Port (program) where

import Capstan.Task (bothPure)
import Control.DeepSeq (force)
import Data.List (foldl', sort)

program :: Int -> IO Int
program count = pure $! foldl' (\whole n -> (whole * 31 + n) `mod` 1000003) 0 (sorted count numbers)
  where
    numbers = take count (iterate (\n -> (n * 1103515245 + 12345) `mod` 2147483648) 42)

sorted :: Int -> [Int] -> [Int]
sorted count list
  | count < 1000 = force (sort list)
  | otherwise =
    case bothPure (sorted half front) (sorted (count - half) back) of
      (left, right) -> force (merge left right)
  where
    half = count `div` 2
    (front, back) = splitAt half list

merge :: [Int] -> [Int] -> [Int]
merge (a : as) (b : bs)
  | a <= b = a : merge as (b : bs)
  | otherwise = b : merge (a : as) bs
merge as bs = as ++ bs
