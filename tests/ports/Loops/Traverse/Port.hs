-- | The primes in each of some intervals, counted.
module Loops.Traverse.Port (program) where

import Capstan.Task (parTraverse)
import Control.Exception (evaluate)

program :: Int -> IO Int
program count = sum <$> parTraverse countPrimes [(k, k + 20) | k <- [0, 20 .. 20 * count]]

countPrimes :: (Int, Int) -> IO Int
countPrimes (low, high) = evaluate (length (filter isPrime [low .. high - 1]))

isPrime :: Int -> Bool
isPrime n = n > 1 && and [n `rem` k /= 0 | k <- takeWhile (\k -> k * k <= n) [2 ..]]
