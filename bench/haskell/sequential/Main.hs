-- | Ten sequential Haskell programs in one, in the manner of nofib: @sequential NAME@. None knows of
-- OpenMP or of Capstan; linked with the package and without, they must take the same time and memory.
module Main (main) where

import Numeric.Programs (fannkuch, mandelbrot, nbody, sieve, spectral)
import Symbolic.Programs (knapsack, life, queens, trees, wordCount)
import System.Environment (getArgs)
import System.Exit (die)

programs :: [(String, Int)]
programs =
  [ ("fannkuch", fannkuch 8),
    ("mandelbrot", mandelbrot 160),
    ("nbody", nbody 60000),
    ("sieve", sieve 400000),
    ("spectral", spectral 160),
    ("knapsack", knapsack 120 1500),
    ("life", life 48 25),
    ("queens", queens 9),
    ("trees", trees 15),
    ("words", wordCount 60000)
  ]

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    ["--list"] -> mapM_ (putStrLn . fst) programs
    [name] | Just result <- lookup name programs -> print result
    _ -> die "usage: sequential --list | NAME"
