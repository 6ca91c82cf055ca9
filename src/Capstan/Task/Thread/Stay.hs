{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Thread.Stay
-- Description : Keeping a bound thread on its Capability
--
-- GHC moves threads that could run to Capabilities that idle, bound ones too; but a bound thread that shares a Capability with one that cannot
-- leave, as a worker, is not moved away again: who schedules there is mostly the bound thread's own thread of the system, and that one keeps it.
module Capstan.Task.Thread.Stay
  ( staying,
  )
where

import Control.Concurrent (isCurrentThreadBound)
import Control.Exception (bracket)
import Control.Monad (void, when)
import GHC.Exts
import GHC.IO (IO (..))

-- | Runs an action, during which the caller stays on its Capability if it is bound. For actions that nobody resumes in another thread.
staying :: IO a -> IO a
staying action = do
  bound <- isCurrentThreadBound
  if bound then bracket (stay True) (`when` void (stay False)) (const action) else action

foreign import prim "cst_task_stayzh"
  stay# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Keeps the calling thread on its Capability, or no more. The answer is whether it was free to go.
stay :: Bool -> IO Bool
stay stays = IO $ \s -> case stay# number s of
  (# s1, answer #) -> (# s1, isTrue# answer #)
  where
    !(I# number) = fromEnum stays
