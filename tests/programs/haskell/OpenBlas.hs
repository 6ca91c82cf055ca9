-- | OpenBLAS from Haskell. The argument is the number of threads that compute beside it.
module Main (main) where

import qualified Algebra
import Callers
import System.Environment (getArgs)

main :: IO ()
main = getArgs >>= test Algebra.calls . read . concat
