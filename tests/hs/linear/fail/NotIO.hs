{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: match type
-- | Work on a part cannot be run in the middle of other effects, once or twice.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
#ifdef MISUSE
  part' <- Linear.io (Linear.write part 0 1)
#else
  part' <- Linear.write part 0 1
#endif
  Linear.pure (part', Linear.Ur ())

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
