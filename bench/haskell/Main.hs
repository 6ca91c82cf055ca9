-- | Haskell and C in one program: @haskell calls@, @haskell latency@ (@haskell serial@ for a
-- collector of one thread), @haskell sequential@ and @haskell paper@.
--
-- The program is built twice, like the host programs: with the capstan package and without.
module Main (main) where

import Bench
import Calls (callCases, measure)
import GHC.Conc (getNumProcessors, setNumCapabilities)
import Latency (latency, serial)
import Ours (copyCases, ourCases)
import Programs (sequential)
import System.Environment (getArgs)
import System.Exit (die)
import Tables (tables)

main :: IO ()
main = do
  getNumProcessors >>= setNumCapabilities . max 2
  arguments <- getArgs
  case arguments of
    "calls" : rest -> parseArguments rest >>= calls
    "latency" : rest -> parseArguments rest >>= latency
    "serial" : rest -> parseArguments rest >>= serial
    "sequential" : rest -> parseArguments rest >>= sequential
    "paper" : rest -> parseArguments rest >>= tables
    _ -> die "usage: haskell calls|latency|serial|sequential|paper [-t THREADS] [-r SAMPLES] [-u MICROSECONDS] [CASE...]"

calls :: Arguments -> IO ()
calls a = do
  ours <- ourCases
  measure median "ns" 1 a (callCases ++ ours)
  copyCases a
