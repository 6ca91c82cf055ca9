-- | Fibonacci numbers by a task for each addition above a small one.
module Par.Fibonacci.Original (program) where

import Control.Monad.Par (Par, get, runPar, spawn)

program :: Int -> IO Int
program n = pure $! runPar (fibonacci n)

fibonacci :: Int -> Par Int
fibonacci n
  | n < 10 = pure (small n)
  | otherwise = do
    right <- spawn (fibonacci (n - 2))
    left <- fibonacci (n - 1)
    (left +) <$> get right

small :: Int -> Int
small n = if n < 2 then n else small (n - 1) + small (n - 2)
