-- | Walks of a chain, each with an end of its own; the ends are in the order of the walks.
module Loops.Results.Port (program) where

import Capstan.Task (async, awaitAll, run)
import Control.Exception (evaluate)
import Control.Monad (forM)
import Data.List (foldl')

program :: Int -> IO Int
program count = do
  ends <- run $ \scope -> do
    walks <- forM [1 .. count] $ \number -> async scope (walk number)
    awaitAll walks
  pure (foldl' (\whole end -> (whole * 31 + end) `mod` 1000003) 0 ends)

walk :: Int -> IO Int
walk number = evaluate (go (50 + number `mod` 100) number)
  where
    go :: Int -> Int -> Int
    go 0 x = x
    go n x = go (n - 1) ((x * 1103515245 + 12345) `mod` 2147483648)
