-- | Tasks in Haskell beside their peers:
-- @haskell-tasks costs|elements|ports|channels|programs|bound|long|pauses|ocaml@. The output is
-- that of the programs with bench.h.
module Main (main) where

import Bench (Arguments (..), parseArguments)
import Channels (channels)
import Control.Concurrent (runInUnboundThread, setNumCapabilities)
import Costs (costs)
import Elements (elements)
import Ocaml (ocaml)
import Ports (ports)
import Programs (bound, long, pauses, programs)
import System.Environment (getArgs)
import System.Exit (die)

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    group : rest
      | Just action <- lookup group groups -> do
        a <- parseArguments rest
        setNumCapabilities (fromIntegral (argThreads a))
        -- The main thread is bound to an OS thread, and switches to it are slow.
        (if group == "bound" then id else runInUnboundThread) (action a)
    _ -> die ("usage: haskell-tasks " ++ foldr1 (\x y -> x ++ "|" ++ y) (map fst groups) ++ " [-t THREADS] [-r SAMPLES] [CASE...]")
  where
    groups = [("costs", costs), ("elements", elements), ("ports", ports), ("channels", channels), ("programs", programs), ("bound", bound), ("long", long), ("pauses", pauses), ("ocaml", ocaml)]
