-- | A program that ends while threads of its evaluate callbacks.
module Ending (program) where

import CFunctions
import Capstan.Callback
import Control.Concurrent
import Control.Monad

-- | One callback blocks and one computes, in regions that nobody waits for. Nothing is lost by that, so nothing is to be
-- printed.
program :: IO ()
program = forM_ [Released, Kept] $ \mode -> do
  begun <- newEmptyMVar
  forM_ [threadDelay 60000000, forever yield] $ \action ->
    forkIO . void . withCallback mode (\x -> tryPutMVar begun () >> action >> pure x) $ \f -> regionSum f 2 1000
  takeMVar begun
  threadDelay 2000
