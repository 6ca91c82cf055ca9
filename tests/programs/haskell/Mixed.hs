-- | Code that GCC compiled, code that clang compiled, and MKL, in one process, from all kinds of Haskell threads.
module Main (main) where

import Callers
import Control.Monad (unless)
import Foreign.C.Types (CDouble (..), CInt (..), CLong (..))
import Oracle (Problem (..))
import System.Environment (getArgs)

foreign import ccall safe "mixed_gcc" gcc :: CLong -> IO CLong

foreign import ccall safe "mixed_clang" clang :: CLong -> IO CLong

foreign import ccall safe "mixed_mkl" mkl :: CInt -> IO CDouble

main :: IO ()
main = getArgs >>= test calls . read . concat

calls :: Problem -> [(String, IO ())]
calls p =
  [ ("GCC's code", sums gcc),
    ("clang's code", sums clang),
    ("MKL", mkl (fromIntegral n) >>= \e -> unless (e >= 0 && e < 1e-6) (fail ("an error of " <> show e)))
  ]
  where
    n = size p
    count = 1000 * fromIntegral n
    sums call = call count >>= \found -> unless (found == count * (count - 1) `div` 2) (fail (show found))
