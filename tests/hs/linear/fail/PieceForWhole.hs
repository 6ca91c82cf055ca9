{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: match type
-- | A piece cannot be given back for the whole.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

#ifdef MISUSE
grow :: Linear.Part (Linear.Lower s) Double %1 -> Linear.Part s Double
#else
grow :: Linear.Part (Linear.Lower s) Double %1 -> Linear.Part (Linear.Lower s) Double
#endif
grow piece = piece

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
  (first, second) <- Linear.pure (Linear.halve part)
  Linear.pure (Linear.combine (grow first) second, Linear.Ur ())

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
