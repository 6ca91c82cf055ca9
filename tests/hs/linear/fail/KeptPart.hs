{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: would escape
-- | A part cannot leave the action that it was given to.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

#ifdef MISUSE
work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur [Linear.Part s Double])
#else
work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur [Double])
#endif
work part = Linear.pure (part, Linear.Ur [])

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= \(_, found) -> print (length found)
