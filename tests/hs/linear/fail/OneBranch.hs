{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A part cannot be forgotten in one of two branches.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
  (part', Linear.Ur a) <- Linear.read part 0
#ifdef MISUSE
  if a > 0 then Linear.pure (part', Linear.Ur ()) else Linear.fail "negative"
#else
  if a > 0 then Linear.pure (part', Linear.Ur ()) else zeroed part'
#endif
  where
    zeroed :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
    zeroed other = Linear.do
      other' <- Linear.write other 0 0
      Linear.pure (other', Linear.Ur ())

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
