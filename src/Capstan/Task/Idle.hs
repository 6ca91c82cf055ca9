-- |
-- Module      : Capstan.Task.Idle
-- Description : Waiting until a Capability runs no Haskell
module Capstan.Task.Idle
  ( whenIdle,
  )
where

import Control.Concurrent (forkOn, threadDelay)
import Control.Concurrent.MVar (newEmptyMVar, takeMVar)
import Control.Monad (void)
import Foreign.StablePtr (StablePtr, freeStablePtr)
import GHC.Conc (PrimMVar, newStablePtrPrimMVar)

foreign import ccall unsafe "cst_rts_await_idle"
  awaitIdle :: Int -> StablePtr PrimMVar -> Int -> IO Bool

-- | Runs an action in a thread on a Capability when no Haskell runs there, or after so many milliseconds if they are not 0. The caller is
-- masked, and so is the action. Where GHC does not show what its Capabilities do, as in its shared libraries, after 10 ms.
whenIdle :: Int -> Int -> IO () -> IO ()
whenIdle capability milliseconds action = do
  box <- newEmptyMVar
  pointer <- newStablePtrPrimMVar box
  watched <- awaitIdle capability pointer milliseconds
  if watched
    then void (forkOn capability (takeMVar box >> action))
    else freeStablePtr pointer >> void (forkOn capability (threadDelay 10000 >> action))
