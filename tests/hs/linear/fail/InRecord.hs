{-# LANGUAGE CPP #-}
{-# LANGUAGE GADTs #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A field that may be used twice cannot hold a part.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

data Held s where
#ifdef MISUSE
  Held :: Linear.Part s Double -> Held s
#else
  Held :: Linear.Part s Double %1 -> Held s
#endif

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = released (Held part)
  where
    released :: Held s %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
    released (Held held) = Linear.pure (held, Linear.Ur ())

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
