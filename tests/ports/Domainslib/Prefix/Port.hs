-- | All sums from the first element on, modulo a number.
module Domainslib.Prefix.Port (program) where

import Capstan.Task
import qualified Data.Vector.Unboxed as Vector

program :: Int -> IO Int
program count = do
  let add a b = (a + b) `mod` 1000003
      sums = parallelScan add (Vector.generate count (\i -> i * i `mod` 1009))
  pure $! Vector.foldl' (\whole part -> (whole * 31 + part) `mod` 1000003) 0 sums
