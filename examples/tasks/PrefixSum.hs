-- | Inclusive prefix sums: the library's function beside a plain loop. Each number is read once and
-- written once, so memory bandwidth decides the time.
module PrefixSum (prefixSums) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

sums :: V.Vector Int -> IO (V.Vector Int)
sums numbers = do
  result <- M.unsafeNew (V.length numbers)
  go result 0 0
  V.unsafeFreeze result
  where
    go :: M.IOVector Int -> Int -> Int -> IO ()
    go result i acc
      | i >= V.length numbers = pure ()
      | otherwise = do
        let acc' = acc + V.unsafeIndex numbers i
        M.unsafeWrite result i acc'
        go result (i + 1) acc'

prefixSums :: Example
prefixSums =
  Example
    { name = "prefix-sum",
      sizeNames = "NUMBERS",
      usual = [10000000],
      small = [5000],
      prepare = \[n] -> pure $! randoms n,
      sequential = sums,
      parallel = \numbers -> pure $! prefixSum numbers
    }
