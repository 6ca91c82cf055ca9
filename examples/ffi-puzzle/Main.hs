-- | The program of 2012: the same call nine times, which should take the same time each time.
--
-- It was written for Criterion.Main. Only the import differs.
module Main (main) where

import Capstan.Bench
import Copy (copyNew, signal)

main :: IO ()
main = defaultMain [bgroup "C" [bench ("copy " ++ show i) (whnf copyNew signal) | i <- [1 .. 9 :: Int]]]
