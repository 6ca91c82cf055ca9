-- | The number of which the chain of steps ends where that of another number does, found by trying.
module Loops.Search.Port (program) where

import Capstan.Task (parallelFind, range)
import Data.Maybe (fromMaybe)

program :: Int -> IO Int
program count = do
  result <- parallelFind (range 1 (count + 1)) $ \number ->
    pure (if chain number == end then Just number else Nothing)
  pure (fromMaybe 0 result)
  where
    end = chain (count - count `div` 8)

-- | Steps are one to one, so each number has an end of its own.
chain :: Int -> Int
chain = go 200
  where
    go :: Int -> Int -> Int
    go 0 x = x
    go n x = go (n - 1) ((x * 1103515245 + 12345) `mod` 2147483648)
