-- | Walks of a chain, each with an end of its own; the ends are in the order of the walks.
module Loops.Results.Original (program) where

import Control.Exception (evaluate)
import Control.Monad (forM_)
import Control.Scheduler (Comp (..), scheduleWork, withScheduler)
import Data.List (foldl')

program :: Int -> IO Int
program count = do
  ends <- withScheduler Par $ \scheduler ->
    forM_ [1 .. count] $ \number -> scheduleWork scheduler (walk number)
  pure (foldl' (\whole end -> (whole * 31 + end) `mod` 1000003) 0 ends)

walk :: Int -> IO Int
walk number = evaluate (go (50 + number `mod` 100) number)
  where
    go :: Int -> Int -> Int
    go 0 x = x
    go n x = go (n - 1) ((x * 1103515245 + 12345) `mod` 2147483648)
