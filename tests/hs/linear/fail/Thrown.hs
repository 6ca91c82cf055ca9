{-# LANGUAGE CPP #-}
{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | An exception cannot carry a part out.
module Main (main) where

import qualified Capstan.Array.Linear as Linear
import Control.Exception (Exception, throwIO)

#ifdef MISUSE
data Leak = forall s. Leak (Linear.Part s Double)
#else
newtype Leak = Leak Double
#endif

instance Show Leak where
  show (Leak _) = "leak"

instance Exception Leak

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
#ifdef MISUSE
  Linear.Ur () <- Linear.io (throwIO (Leak part))
  Linear.pure (part, Linear.Ur ())
#else
  (part', Linear.Ur a) <- Linear.read part 0
  Linear.Ur () <- Linear.io (throwIO (Leak a))
  Linear.pure (part', Linear.Ur ())
#endif

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
