{-# LANGUAGE MagicHash #-}

-- |
-- Module      : Capstan.Task.Target
-- Description : Threads that exceptions are thrown to, one at a time
--
-- What is thrown to a thread that has masked exceptions is put before what is there already. GHC's collector (of 9.0.2 and
-- 9.6.6 at least) does not hear of that, so where a message that has become old is put before a young one the heap is
-- corrupted. Therefore who throws to a thread waits for the turn, and has it until the exception has arrived or was taken
-- back. Then each message is younger than those behind it, which are no more than the remains of those taken back.
--
-- What the program itself throws to a thread has no part in this.
module Capstan.Task.Target
  ( Target,
    targetHere,
    targetThread,
    isFree,
    throwInTurn,
    forkMasked,
    masked,
  )
where

import Control.Concurrent (ThreadId, forkIO, mkWeakThreadId, myThreadId)
import Control.Concurrent.MVar (MVar, isEmptyMVar, newMVar, withMVar)
import Control.Exception
import GHC.Exts (maskAsyncExceptions#)
import GHC.IO (IO (..))
import System.Mem.Weak (Weak, deRefWeak)

-- | A thread, and whose turn it is to throw to it. The name is weak: a thread whose name is known is never found to be
-- blocked for ever.
data Target = Target !(Weak ThreadId) !(MVar ())

-- | The calling thread. There must be one only for each, so that there is one turn.
targetHere :: IO Target
targetHere = Target <$> (myThreadId >>= mkWeakThreadId) <*> newMVar ()

-- | The thread, while anybody can know it.
targetThread :: Target -> IO (Maybe ThreadId)
targetThread (Target name _) = deRefWeak name

-- | Whether nobody throws to it.
isFree :: Target -> IO Bool
isFree (Target _ turn) = not <$> isEmptyMVar turn

-- | Throws when it is the caller's turn. The caller may be interrupted, whether it waits for the turn or until the exception
-- arrives; then the exception does not arrive.
throwInTurn :: Exception e => Target -> e -> IO ()
throwInTurn target@(Target _ turn) e = withMVar turn $ \_ -> targetThread target >>= mapM_ (`throwTo` e)

-- | Starts a thread that has exceptions masked, whatever the caller has.
forkMasked :: IO () -> IO ThreadId
forkMasked = forkIO . masked

-- | Runs an action that has exceptions masked, and can be interrupted, whatever the caller has. Nothing comes in before.
masked :: IO a -> IO a
masked (IO action) = IO (maskAsyncExceptions# action)
