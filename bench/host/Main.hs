-- | A Haskell program that uses OpenMP: @host callers@, @host mixed@ and @host unsafe@.
--
-- The program is built twice: without Capstan, so that the dynamic linker finds libgomp or libomp,
-- and with the capstan package linked in.
module Main (main) where

import Bench (parseArguments)
import Callers (callers)
import GHC.Conc (getNumProcessors, setNumCapabilities)
import Mixed (mixed)
import System.Environment (getArgs)
import System.Exit (die)
import Unsafe (unsafe)

main :: IO ()
main = do
  getNumProcessors >>= setNumCapabilities
  arguments <- getArgs
  case arguments of
    "callers" : rest -> parseArguments rest >>= callers
    "mixed" : rest -> parseArguments rest >>= mixed
    "unsafe" : rest -> parseArguments rest >>= unsafe
    _ -> die "usage: host callers|mixed|unsafe [-t THREADS] [-r SAMPLES] [-u MICROSECONDS] [CASE...]"
