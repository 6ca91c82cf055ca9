{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: No instance for
-- | Haskell cannot follow a pointer that was lent to C.
module Main (main) where

import qualified Capstan.Array.Linear as Linear
import Foreign.Marshal.Utils (with)
import Foreign.Storable (peek)

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
#ifdef MISUSE
  (part', Linear.Ur ()) <- Linear.withC part (\start _ -> () <$ peek start)
#else
  (part', Linear.Ur ()) <- Linear.withC part (\_ _ -> () <$ with 'x' peek)
#endif
  Linear.pure (part', Linear.Ur ())

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
