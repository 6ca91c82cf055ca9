{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Thread.Target
-- Description : Threads that exceptions are thrown to, one at a time
--
-- What is thrown to a thread that has masked exceptions is put before what is there already. GHC's collector (of 9.0.2 and
-- 9.6.6 at least) does not hear of that, so where a message that has become old is put before a young one the heap is
-- corrupted. Therefore who throws to a thread waits for the turn, and has it until the exception has arrived or was taken
-- back. Then each message is younger than those behind it, which are no more than the remains of those taken back.
--
-- What the program itself throws to a thread has no part in this.
--
-- == What a thread works on
--
-- Whoever can be asked by others for as long as a thread runs must not keep it, nor the task that it runs: the task knows who waits
-- for it, and none of them would ever be found to be blocked for ever. So what a thread works on is known as long as the thread is
-- there by itself, by the same weak pointer as its name.
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

-- | A thread, and whose turn it is to throw to it. What is known of it is weak: a thread whose name is known is never found to be
-- blocked for ever.
data Target = Target !(Weak Self) !(MVar ())

-- | The name of a thread, and what it works on now. For the thread itself.
data Self = Self !ThreadId !(IORef (Maybe Work))

-- | Whether the thread has ended it, and the variable that it will have written by then.
data Work = forall a. Work !(IORef Bool) (MutVar# RealWorld a)

foreign import prim "cst_task_threadzh"
  thread# :: State# RealWorld -> (# State# RealWorld, Int# #)

-- | The number of the calling thread, which is never used again.
threadNumber :: IO Int
threadNumber = IO $ \s -> case thread# s of (# s1, n #) -> (# s1, I# n #)

-- | The calling thread. There must be one only for each, so that there is one turn.
targetHere :: IO (Target, Self)
targetHere = do
  name@(ThreadId thread) <- myThreadId
  self <- Self name <$> newIORef Nothing
  weak <- IO $ \s -> case mkWeakNoFinalizer# thread self s of (# s1, w #) -> (# s1, Weak w #)
  target <- Target weak <$> newMVar ()
  pure (target, self)

-- | The thread, while anybody can know it.
targetThread :: Target -> IO (Maybe ThreadId)
targetThread (Target weak _) = fmap (\(Self name _) -> name) <$> deRefWeak weak

-- | Says what the calling thread works on.
workOn :: Self -> Work -> IO ()
workOn (Self _ now) work = writeIORef now (Just work)

-- | Says that the calling thread has ended what it works on, if anything.
workDone :: Self -> IO ()
workDone (Self _ now) = readIORef now >>= mapM_ (\(Work over _) -> writeIORef over True)

-- | What the thread works on, if that is what is over when the variable says so.
workOf :: Target -> IORef Bool -> IO (Maybe Work)
workOf (Target weak _) mine = deRefWeak weak >>= maybe (pure Nothing) look
  where
    look (Self _ now) = (>>= \work@(Work over _) -> if over == mine then Just work else Nothing) <$> readIORef now

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
