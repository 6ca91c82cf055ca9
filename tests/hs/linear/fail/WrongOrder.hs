{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: match type
-- | The upper piece does not come first.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
  (first, second) <- Linear.pure (Linear.halve part)
#ifdef MISUSE
  Linear.pure (Linear.combine second first, Linear.Ur ())
#else
  Linear.pure (Linear.combine first second, Linear.Ur ())
#endif

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
