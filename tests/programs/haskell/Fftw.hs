-- | FFTW from Haskell. The argument: beside how many threads that compute.
module Main (main) where

import Callers
import System.Environment (getArgs)
import qualified Transform

main :: IO ()
main = getArgs >>= test Transform.calls . read . concat
