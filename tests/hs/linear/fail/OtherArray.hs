{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: match type
-- | Pieces of two arrays do not make a whole.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work ::
  Linear.Part s Double %1 ->
  Linear.Part t Double %1 ->
  Linear.Action ((Linear.Part s Double, Linear.Part t Double), Linear.Ur ())
work one other = Linear.do
  (first, second) <- Linear.pure (Linear.halve one)
  (third, fourth) <- Linear.pure (Linear.halve other)
#ifdef MISUSE
  Linear.pure ((Linear.combine first fourth, Linear.combine third second), Linear.Ur ())
#else
  Linear.pure ((Linear.combine first second, Linear.combine third fourth), Linear.Ur ())
#endif

main :: IO ()
main = Linear.new Linear.CacheLine 10 single >>= print
  where
    _ = work

single :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
single part = Linear.pure (part, Linear.Ur ())
