{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: match type
-- | A chunk cannot be left out.
module Main (main) where

import qualified Capstan.Array.Linear as Linear

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = rejoined (Linear.chunksOf 3 part)
  where
    rejoined :: Linear.Chunks s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
    rejoined (Linear.Last one) = Linear.pure (one, Linear.Ur ())
#ifdef MISUSE
    rejoined (_ Linear.:| others) = Linear.pure (Linear.unchunk others, Linear.Ur ())
#else
    rejoined (one Linear.:| others) = Linear.pure (Linear.combine one (Linear.unchunk others), Linear.Ur ())
#endif

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
