{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A part cannot be made an unrestricted value.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
#ifdef MISUSE
work part = keep (Linear.Ur part)
#else
work part = keep part
#endif
  where
#ifdef MISUSE
    keep :: Linear.Ur (Linear.Part s Double) %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
    keep (Linear.Ur whole) = Linear.pure (whole, Linear.Ur ())
#else
    keep :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
    keep whole = Linear.pure (whole, Linear.Ur ())
#endif

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
