{-# OPTIONS_GHC -O2 -fllvm #-}

-- | The loop by LLVM's code generator: it optimises only from GHC's -O2 on.
module Llvm (sines) where

import qualified Loop

sines :: Maybe (Int -> Int -> IO Double)
sines = Just throughLlvm

throughLlvm :: Int -> Int -> IO Double
throughLlvm = Loop.sines
{-# NOINLINE throughLlvm #-}
