{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Thread.Stay
-- Description : Keeps a bound thread on its Capability
--
-- GHC moves runnable threads to Capabilities that idle, including bound threads. But suppose that a
-- bound thread shares a Capability with a thread that cannot leave, such as a worker. Then GHC does
-- not move the bound thread away again: the scheduler there mostly runs in the bound thread's own
-- OS thread, which keeps the bound thread.
module Capstan.Task.Thread.Stay
  ( staying,
  )
where

import Control.Concurrent (isCurrentThreadBound)
import Control.Exception (bracket)
import Control.Monad (void, when)
import GHC.Exts
import GHC.IO (IO (..))

-- | Runs an action, during which the caller stays on its Capability if it is bound. No other thread
-- may resume the action.
staying :: IO a -> IO a
staying action = do
  bound <- isCurrentThreadBound
  if bound then bracket (stay True) (`when` void (stay False)) (const action) else action

foreign import prim "cst_task_stayzh"
  stay# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Keeps the calling thread on its Capability, or releases it. Returns whether the thread was free
-- to move before.
stay :: Bool -> IO Bool
stay stays = IO $ \s -> case stay# number s of
  (# s1, answer #) -> (# s1, isTrue# answer #)
  where
    !(I# number) = fromEnum stays
