{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | Two threads cannot have the same piece.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
  (first, second) <- Linear.pure (Linear.halve part)
#ifdef MISUSE
  (first', second') <- Linear.both (Linear.mapElements (+ 1) first) (Linear.mapElements (+ 1) first)
#else
  (first', second') <- Linear.both (Linear.mapElements (+ 1) first) (Linear.mapElements (+ 1) second)
#endif
  Linear.pure (Linear.combine first' second', Linear.Ur ())

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
