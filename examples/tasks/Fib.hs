-- | Fibonacci numbers by their definition: nothing but calls. Below the cut-off a task would do
-- less work than it costs.
module Fib (fibPure, fibIO, fib, fibTasks, fibTasksIO) where

import Capstan.Task
import Control.Monad ((<$!>))
import Example

fib :: Int -> Int
fib n
  | n < 2 = n
  | otherwise = fib (n - 1) + fib (n - 2)

-- | Fibonacci numbers by pure tasks: sparks with a result.
fibTasks :: Int -> Int -> Int
fibTasks cutOff n
  | n < max 2 cutOff = fib n
  | otherwise = case bothPure (fibTasks cutOff (n - 1)) (fibTasks cutOff (n - 2)) of
    (left, right) -> left + right

-- | Fibonacci numbers by tasks in IO, which may throw and be cancelled.
fibTasksIO :: Int -> Int -> IO Int
fibTasksIO cutOff count = run (`go` count)
  where
    go scope n
      | n < max 2 cutOff = pure $! fib n
      | otherwise = do
        right <- async scope (go scope (n - 2))
        left <- go scope (n - 1)
        (left +) <$!> await right

fibPure, fibIO :: Example
fibPure = example "fib-pure" (\[n, cutOff] -> pure $! fibTasks cutOff n)
fibIO = example "fib-io" (\[n, cutOff] -> fibTasksIO cutOff n)

example :: String -> (Sizes -> IO Int) -> Example
example title tasks =
  Example
    { name = title,
      sizeNames = "N CUT-OFF",
      usual = [42, 20],
      small = [20, 4],
      prepare = pure,
      sequential = \[n, _] -> pure $! fib n,
      parallel = tasks
    }
