{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A part cannot be used any more when it was split.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
  (first, second) <- Linear.pure (Linear.halve part)
#ifdef MISUSE
  first' <- Linear.write part 0 1
  Linear.pure (first', Linear.Ur ())
#else
  first' <- Linear.write first 0 1
  Linear.pure (Linear.combine first' second, Linear.Ur ())
#endif

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
