-- |
-- Module      : Capstan.Task.Pool.Idle
-- Description : Waiting until a Capability runs no Haskell
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

-- | Puts into the 'MVar', if it is empty then, when the Capability runs no Haskell, or after so many milliseconds. Where GHC does not show
-- what its Capabilities do, as in its shared libraries, after 10 ms. No thread of Haskell is needed meanwhile but there.
tellWhenIdle :: Int -> Int -> MVar () -> IO ()
tellWhenIdle capability milliseconds box = do
  pointer <- newStablePtrPrimMVar box
  watched <- awaitIdle capability pointer milliseconds
  unless watched $ do
    freeStablePtr pointer
    void (forkOn capability (threadDelay 10000 >> void (tryPutMVar box ())))
