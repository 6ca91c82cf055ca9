-- | A program that ends while some of its threads evaluate callbacks.
module Ending (program) where

import CFunctions
import Capstan.Callback
import Control.Concurrent
import Control.Monad

-- | One callback blocks and one computes, in regions for which no thread waits. Nothing is lost, so
-- the program must print nothing.
program :: IO ()
program = forM_ [Released, Kept] $ \mode -> do
  begun <- newEmptyMVar
  forM_ [threadDelay 60000000, forever yield] $ \action ->
    forkIO . void . withCallback mode (\x -> tryPutMVar begun () >> action >> pure x) $ \f -> regionSum f 2 1000
  takeMVar begun
  threadDelay 2000
