{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A piece cannot be forgotten.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
  (first, second) <- Linear.pure (Linear.halve part)
  first' <- Linear.write first 0 1
#ifdef MISUSE
  Linear.pure (whole first', Linear.Ur ())
  where
    whole :: Linear.Part (Linear.Lower s) Double %1 -> Linear.Part s Double
    whole = whole
#else
  Linear.pure (Linear.combine first' second, Linear.Ur ())
#endif

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
