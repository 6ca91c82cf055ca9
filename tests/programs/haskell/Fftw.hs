-- | FFTW from Haskell. The argument is the number of threads that compute beside it.
module Main (main) where

import Callers
import System.Environment (getArgs)
import qualified Transform

main :: IO ()
main = getArgs >>= test Transform.calls . read . concat
