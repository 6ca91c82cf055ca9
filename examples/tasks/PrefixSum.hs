-- | Inclusive prefix sums. Each number is read once and written once: a matter of memory bandwidth.
module PrefixSum (prefixSums) where

import Capstan.Task
import qualified Data.Vector.Unboxed as V
import Example

prefixSums :: Example
prefixSums =
  Example
    { name = "prefix-sum",
      sizeNames = "NUMBERS",
      usual = [10000000],
      small = [5000],
      prepare = \[n] -> pure $! randoms n,
      sequential = \numbers -> pure $! V.scanl1' (+) numbers,
      parallel = \numbers -> pure $! prefixSum numbers
    }
