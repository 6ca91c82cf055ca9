{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Thread.Target
-- Description : Throws exceptions to a thread one at a time
--
-- If a thread has masked exceptions, GHC puts a new exception in front of those that are pending.
-- GHC's collector (of 9.0.2 and 9.6.6 at least) does not learn of this write. So if the message of
-- an old generation is put in front of a young message, the heap is corrupted. Therefore a thrower
-- waits for its turn, and keeps the turn until its exception has arrived or was taken back. Then
-- each message is younger than the messages behind it, which are only remains of messages that were
-- taken back.
--
-- Exceptions that the program itself throws do not take turns.
--
-- == The work of a thread
--
-- An object that other threads can reach while a thread runs must not keep the thread or its task
-- alive. The task refers to the threads that wait for it, and GHC could never find that they are
-- blocked for ever. So only the weak pointer that leads to the thread also leads to its task, and
-- only while something else keeps the thread alive.
module Capstan.Task.Thread.Target
  ( Target,
    Self,
    threadNumber,
    targetHere,
    targetThread,
    Work (..),
    workOn,
    workDone,
    workOf,
    isFree,
    throwInTurn,
    forkMasked,
    masked,
  )
where

import Control.Concurrent (forkIO)
import Control.Concurrent.MVar (MVar, isEmptyMVar, newMVar, withMVar)
import Control.Exception
import Data.IORef
import GHC.Conc (ThreadId (..), myThreadId)
import GHC.Exts (Int (..), Int#, MutVar#, RealWorld, State#, maskAsyncExceptions#, mkWeakNoFinalizer#)
import GHC.IO (IO (..))
import GHC.Weak (Weak (..), deRefWeak)

-- | A thread, and the turn to throw to it. The reference to the thread is weak, because GHC never
-- finds a thread with a known name to be blocked for ever.
data Target = Target !(Weak Self) !(MVar ())

-- | The name and the present work of a thread, for the thread itself.
data Self = Self !ThreadId !(IORef (Maybe Work))

-- | A piece of work: whether the thread has ended it, and the variable that the thread writes
-- before that.
data Work = forall a. Work !(IORef Bool) (MutVar# RealWorld a)

foreign import prim "cst_task_threadzh"
  thread# :: State# RealWorld -> (# State# RealWorld, Int# #)

-- | The number of the calling thread, which is never used again.
threadNumber :: IO Int
threadNumber = IO $ \s -> case thread# s of (# s1, n #) -> (# s1, I# n #)

-- | The calling thread as a target. Each thread must have only one target, so that there is one
-- turn.
targetHere :: IO (Target, Self)
targetHere = do
  name@(ThreadId thread) <- myThreadId
  self <- Self name <$> newIORef Nothing
  weak <- IO $ \s -> case mkWeakNoFinalizer# thread self s of (# s1, w #) -> (# s1, Weak w #)
  target <- Target weak <$> newMVar ()
  pure (target, self)

-- | The thread, if it is still alive.
targetThread :: Target -> IO (Maybe ThreadId)
targetThread (Target weak _) = fmap (\(Self name _) -> name) <$> deRefWeak weak

-- | Sets the work of the calling thread.
workOn :: Self -> Work -> IO ()
workOn (Self _ now) work = writeIORef now (Just work)

-- | Notes that the calling thread has ended its work, if it had any.
workDone :: Self -> IO ()
workDone (Self _ now) = readIORef now >>= mapM_ (\(Work over _) -> writeIORef over True)

-- | The work of a thread, if it is the work whose end the given variable shows.
workOf :: Target -> IORef Bool -> IO (Maybe Work)
workOf (Target weak _) mine = deRefWeak weak >>= maybe (pure Nothing) look
  where
    look (Self _ now) = (>>= \work@(Work over _) -> if over == mine then Just work else Nothing) <$> readIORef now

-- | Whether no thread throws to the target.
isFree :: Target -> IO Bool
isFree (Target _ turn) = not <$> isEmptyMVar turn

-- | Throws when it is the caller's turn. The caller can be interrupted while it waits for its turn,
-- or until the exception arrives. Then the exception does not arrive.
throwInTurn :: Exception e => Target -> e -> IO ()
throwInTurn target@(Target _ turn) e = withMVar turn $ \_ -> targetThread target >>= mapM_ (`throwTo` e)

-- | Starts a thread with exceptions masked, whatever the caller's masking state.
forkMasked :: IO () -> IO ThreadId
forkMasked = forkIO . masked

-- | Runs an action with exceptions masked, but interruptible, whatever the caller's masking state.
-- No exception arrives before the action begins.
masked :: IO a -> IO a
masked (IO action) = IO (maskAsyncExceptions# action)
