-- | The number of which the chain of steps ends where that of another number does, found by trying.
module Loops.Search.Original (program) where

import Control.Monad (forM_, void, when)
import Control.Scheduler (Comp (..), Results (..), scheduleWork, terminateWith, withSchedulerR)

program :: Int -> IO Int
program count = do
  results <- withSchedulerR Par $ \scheduler ->
    forM_ [1 .. count] $ \number -> scheduleWork scheduler $ do
      when (chain number == end) (void (terminateWith scheduler number))
      pure number
  case results of
    FinishedEarlyWith number -> pure number
    _ -> pure 0
  where
    end = chain (count - count `div` 8)

-- | Steps are one to one, so each number has an end of its own.
chain :: Int -> Int
chain = go 200
  where
    go :: Int -> Int -> Int
    go 0 x = x
    go n x = go (n - 1) ((x * 1103515245 + 12345) `mod` 2147483648)
