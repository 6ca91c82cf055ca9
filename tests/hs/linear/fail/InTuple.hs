{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A tuple does not hide that a part is used twice.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.pure (one (part, Linear.Ur ()))
  where
#ifdef MISUSE
    one :: (a, Linear.Ur ()) -> (a, Linear.Ur ())
#else
    one :: (a, Linear.Ur ()) %1 -> (a, Linear.Ur ())
#endif
    one pair = pair

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
