{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: multiplicity
-- | A variable that others read cannot hold what is to be done with a part.
module Main (main) where

import qualified Capstan.Array.Linear as Linear
import Control.Concurrent.MVar (MVar, newEmptyMVar, putMVar, takeMVar)

work :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double, Linear.Ur ())
work part = Linear.do
  Linear.Ur variable <- Linear.io newEmptyMVar
#ifdef MISUSE
  Linear.Ur () <- Linear.io (putMVar variable (Linear.write part 0 1))
  Linear.Ur action <- Linear.io (takeMVar variable)
  part' <- action
#else
  Linear.Ur () <- Linear.io (putMVar variable (1 :: Double))
  Linear.Ur a <- Linear.io (takeMVar variable)
  part' <- Linear.write part 0 a
#endif
  Linear.pure (part', unused variable)
  where
    unused :: MVar a -> Linear.Ur ()
    unused _ = Linear.Ur ()

main :: IO ()
main = Linear.new Linear.CacheLine 10 work >>= print
