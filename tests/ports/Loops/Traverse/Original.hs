-- | The primes in each of some intervals, counted.
module Loops.Traverse.Original (program) where

import Control.Exception (evaluate)
import Control.Scheduler (Comp (..), traverseConcurrently)

program :: Int -> IO Int
program count = sum <$> traverseConcurrently Par countPrimes [(k, k + 20) | k <- [0, 20 .. 20 * count]]

countPrimes :: (Int, Int) -> IO Int
countPrimes (low, high) = evaluate (length (filter isPrime [low .. high - 1]))

isPrime :: Int -> Bool
isPrime n = n > 1 && and [n `rem` k /= 0 | k <- takeWhile (\k -> k * k <= n) [2 ..]]
