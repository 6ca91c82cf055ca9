-- | A recursion that makes a task of every other call.
module Fibonacci (fibonacci) where

import Capstan.Task
import Control.Monad ((<$!>))

fibonacci :: Scope -> Int -> IO Int
fibonacci _ n | n < 2 = pure n
fibonacci s n = do
  right <- async s (fibonacci s (n - 2))
  left <- fibonacci s (n - 1)
  (left +) <$!> await right
