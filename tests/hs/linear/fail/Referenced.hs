{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A part cannot be put aside in a reference.
module Main (main) where

import qualified Capstan.Array.Linear as Linear
import Data.IORef (IORef, newIORef, readIORef)

work :: IORef () -> Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
#ifdef MISUSE
work _ part = Linear.do
  Linear.Ur reference <- Linear.io (newIORef part)
  Linear.Ur whole <- Linear.io (readIORef reference)
  Linear.pure (whole, Linear.Ur ())
#else
work unit part = Linear.do
  Linear.Ur reference <- Linear.io (pure unit)
  Linear.Ur () <- Linear.io (readIORef reference)
  Linear.pure (part, Linear.Ur ())
#endif

main :: IO ()
main = newIORef () >>= \unit -> Linear.new Linear.CacheLine 10 (work unit) >>= print
