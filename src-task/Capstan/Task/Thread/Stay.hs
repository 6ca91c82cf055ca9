{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Thread.Stay
-- Description : Keeps a thread on its Capability, or lets it leave
--
-- GHC moves runnable threads to Capabilities that idle, including bound threads. But suppose that a
-- bound thread shares a Capability with a thread that cannot leave, such as a worker. Then GHC does
-- not move the bound thread away again: the scheduler there mostly runs in the bound thread's own
-- OS thread, which keeps the bound thread.
module Capstan.Task.Thread.Stay
  ( staying,
    settle,
    mayLeave,
  )
where

import Control.Concurrent (isCurrentThreadBound)
import Control.Exception (bracket)
import Control.Monad (void, when)
import GHC.Conc (ThreadId (..))
import GHC.Exts
import GHC.IO (IO (..))

-- | Runs an action, during which the caller stays on its Capability if it is bound. No other thread
-- may resume the action.
staying :: IO a -> IO a
staying action = do
  bound <- isCurrentThreadBound
  if bound then bracket (stay True) (`when` void (stay False)) (const action) else action

-- | Keeps the calling thread on its Capability from now on.
settle :: IO ()
settle = void (stay True)
{-# INLINE settle #-}

-- | Lets GHC move a thread of the caller's Capability to other Capabilities. A thread of another
-- Capability is left alone, because only its own Capability may change it.
mayLeave :: ThreadId -> IO ()
mayLeave (ThreadId thread) = IO $ \s -> case mayLeave# thread s of (# s1, _ #) -> (# s1, () #)

foreign import prim "cst_task_mayLeavezh"
  mayLeave# :: ThreadId# -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_stayzh"
  stay# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Keeps the calling thread on its Capability, or releases it. Returns whether the thread was free
-- to move before.
stay :: Bool -> IO Bool
stay stays = IO $ \s -> case stay# number s of
  (# s1, answer #) -> (# s1, isTrue# answer #)
  where
    !(I# number) = fromEnum stays
