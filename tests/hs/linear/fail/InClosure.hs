{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A closure that may be called twice cannot hold a part.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = called (\() -> part)
  where
#ifdef MISUSE
    called :: (() -> Linear.Part s Double) -> Linear.Action (Linear.Part s Double, Linear.Ur ())
#else
    called :: (() -> Linear.Part s Double) %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
#endif
    called function = Linear.pure (function (), Linear.Ur ())

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
