-- | The same nine calls through a binding whose caller owns the result, and the loop in C.
module Main (main) where

import Capstan.Bench
import Capstan.Binding (withArena)
import Copy (copyInto, copyTimes, signal, size)

main :: IO ()
main = withArena (8 * size) $ \arena ->
  defaultMain
    [ bgroup "C" [bench ("copy " ++ show i) (whnfIO (copyInto arena signal)) | i <- [1 .. 9 :: Int]],
      bench "loop in C" (toBenchmarkable (copyTimes signal))
    ]
