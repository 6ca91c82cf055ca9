{-# OPTIONS_GHC -O2 #-}

-- | The loop by GHC's own code generator.
module Native (sines) where

import qualified Loop

sines :: Int -> Int -> IO Double
sines = Loop.sines
{-# NOINLINE sines #-}
