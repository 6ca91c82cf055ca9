-- | OpenBLAS from Haskell. The argument: beside how many threads that compute.
module Main (main) where

import qualified Algebra
import Callers
import System.Environment (getArgs)

main :: IO ()
main = getArgs >>= test Algebra.calls . read . concat
