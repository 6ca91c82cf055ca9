-- |
-- Module      : Capstan.Task.Pool.Idle
-- Description : A wake when a Capability runs no Haskell code
module Capstan.Task.Pool.Idle
  ( tellWhenIdle,
  )
where

import Control.Concurrent (forkOn, threadDelay)
import Control.Concurrent.MVar (MVar, tryPutMVar)
import Control.Monad (unless, void)
import Foreign.StablePtr (StablePtr, freeStablePtr)
import GHC.Conc (PrimMVar, newStablePtrPrimMVar)

foreign import ccall unsafe "cst_rts_await_idle"
  awaitIdle :: Int -> StablePtr PrimMVar -> Int -> IO Bool

-- | Fills the 'MVar', if it is empty, when the Capability runs no Haskell code, or after the given
-- number of milliseconds. If GHC hides the state of its Capabilities, as in its shared libraries,
-- the 'MVar' is filled after 10 ms. In that case a Haskell thread waits on the Capability;
-- otherwise no Haskell thread is needed.
tellWhenIdle :: Int -> Int -> MVar () -> IO ()
tellWhenIdle capability milliseconds box = do
  pointer <- newStablePtrPrimMVar box
  watched <- awaitIdle capability pointer milliseconds
  unless watched $ do
    freeStablePtr pointer
    void (forkOn capability (threadDelay 10000 >> void (tryPutMVar box ())))
