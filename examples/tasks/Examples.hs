-- | The list of examples.
module Examples (examples) where

import Example (Example)
import Fib (fibIO, fibPure)
import LU (lu)
import Life (life)
import Mandelbrot (mandelbrot)
import Matrix (matrix)
import NBody (friendly, naive)
import PrefixSum (prefixSums)
import Quicksort (quicksort)
import SpectralNorm (spectralNorm)
import SummedArea (summedArea)

examples :: [Example]
examples = [fibPure, fibIO, life, naive, friendly, spectralNorm, lu, prefixSums, summedArea, matrix, quicksort, mandelbrot]
