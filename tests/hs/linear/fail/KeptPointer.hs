{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: would escape
-- | A pointer that was lent to C cannot be kept.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
#ifdef MISUSE
  (part', Linear.Ur pointer) <- Linear.withC part (\start _ -> pure start)
  Linear.Ur () <- Linear.io (print pointer)
#else
  (part', Linear.Ur pointer) <- Linear.withC part (\_ count -> pure count)
  Linear.Ur () <- Linear.io (print pointer)
#endif
  Linear.pure (part', Linear.Ur ())

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
