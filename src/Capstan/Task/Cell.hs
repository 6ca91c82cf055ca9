{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Cell
-- Description : A task from its beginning to its result, in one word
--
-- A cell is a 'MutVar#' that changes by compare-and-swap only. It lies in a deque, is held by promises,
-- and is all that a task is made of:
--
-- > Task, Branch, Spark --claim--> Pending ---> Started ------> Done or Failed
-- >                                   |            |                 ^   ^
-- >                                   |            v                 |   |
-- >                                   |        Cancelling --> Interrupted |
-- >                                   +------------------------->--+      |
-- >        ... --claimed by who awaits it: Pending, or Own ---------------+
--
-- A task may be met by several threads at once: a worker that took it from a deque, the thread that
-- awaits it, those who find an entry that was left behind. The claim decides who runs it.
--
-- To interrupt is to swap 'Started' to 'Cancelling', throw 'Interrupt' to the thread, and say
-- 'Interrupted'. A thread that finishes and finds 'Cancelling' lets the exception in and discards it,
-- until it reads 'Interrupted'. So an interrupt that was begun arrives before the thread goes on to
-- something else, and one that was not begun by then never comes.
module Capstan.Task.Cell
  ( Cell (..),
    Status (..),
    Phase (..),
    Home (..),
    Interrupt (..),
    isInterrupt,
    newCell,
    claim,
    claimOwn,
    isOwn,
    isTaken,
    begin,
    finish,
    interrupt,
    poll,
    wait,
    Current (..),
  )
where

import Capstan.Task.Counters (Counters)
import Control.Concurrent (ThreadId, myThreadId, yield)
import Control.Concurrent.MVar (MVar, newEmptyMVar, takeMVar, tryPutMVar)
import Control.Exception
import Control.Monad (forM_)
import Data.IORef (IORef)
import GHC.Exts
import GHC.IO (IO (..))

-- | Where a task of a scope belongs.
data Home = Home
  { counters :: !Counters,
    failure :: !(IORef (Maybe SomeException)),
    -- | Who runs the body of the scope, for interrupts.
    bodyCell :: !(Cell ()),
    allEnded :: !(MVar ())
  }

-- | What a task is, how far it has come, and who waits for it.
data Status a
  = -- | A task of a scope, not begun.
    Task !Home (IO a)
  | -- | The right branch of a fork, not begun: its owner, and whether that may be interrupted.
    Branch ThreadId# !Bool (IO a)
  | -- | A value, not evaluated.
    Spark a
  | Open !Phase [MVar ()]
  | Done a
  | Failed !SomeException

data Phase
  = -- | Claimed, and not begun; or run by a thread that awaits it, and not to be interrupted apart from it.
    Pending
  | -- | Claimed by the owner of the fork.
    Own
  | Started !ThreadId
  | Cancelling
  | Interrupted

-- | A place for a result.
data Cell a = Cell (MutVar# RealWorld (Status a))

instance Eq (Cell a) where
  Cell a == Cell b = isTrue# (sameMutVar# a b)

-- | What a worker runs now: the failure of its scope, and what interrupts it.
data Current
  = NoTask
  | Running !(IORef (Maybe SomeException)) (IO ())

-- | Ends a computation whose result, in that cell, nobody wants any more.
data Interrupt = forall a. Interrupt (Cell a)

instance Show Interrupt where
  show _ = "interrupted: another branch failed"

instance Exception Interrupt where
  toException = asyncExceptionToException
  fromException = asyncExceptionFromException

-- | Whether the exception is the interrupt of this cell.
isInterrupt :: Cell a -> SomeException -> Bool
isInterrupt (Cell mine) e = case fromException e of
  Just (Interrupt (Cell var)) -> isTrue# (sameMutVar# mine (unsafeCoerce# var))
  Nothing -> False

-- | A cell with that status. What is stored is evaluated, here and in 'swap': a swap compares pointers,
-- and the pointer to a thunk is another once the thunk is evaluated.
newCell :: Status a -> IO (Cell a)
newCell !status = IO $ \s -> case newMutVar# status s of
  (# s1, var #) -> (# s1, Cell var #)
{-# INLINE newCell #-}

readStatus :: Cell a -> IO (Status a)
readStatus (Cell var) = IO (readMutVar# var)
{-# INLINE readStatus #-}

-- | Swaps one status for another. Its failure proves nothing: the collector may have replaced the pointer
-- that was read. So each caller looks again.
swap :: Cell a -> Status a -> Status a -> IO Bool
swap (Cell var) !old !new = IO $ \s -> case casMutVar# var old new s of
  (# s1, 0#, _ #) -> (# s1, True #)
  (# s1, _, _ #) -> (# s1, False #)
{-# INLINE swap #-}

-- | Claims a task that has not begun: then the result is what it was, and the status is 'Open'.
claim :: Cell a -> IO (Status a)
claim = claimAs Pending

-- | As 'claim', by the owner of a fork.
claimOwn :: Cell a -> IO (Status a)
claimOwn = claimAs Own

claimAs :: Phase -> Cell a -> IO (Status a)
claimAs phase cell = do
  status <- readStatus cell
  let take' = do
        swapped <- swap cell status (Open phase [])
        if swapped then pure status else claimAs phase cell
  case status of
    Task _ _ -> take'
    Branch {} -> take'
    Spark _ -> take'
    _ -> pure status

-- | Whether the owner of the fork has claimed the task.
isOwn :: Status a -> Bool
isOwn status = case status of
  Open Own _ -> True
  _ -> False

-- | Whether the task was claimed.
isTaken :: Cell a -> IO Bool
isTaken cell = do
  status <- readStatus cell
  pure $ case status of
    Task _ _ -> False
    Branch {} -> False
    Spark _ -> False
    _ -> True

-- | Says that this thread computes the result and may be interrupted. For who has claimed it. The answer
-- is 'False' if it was interrupted before.
begin :: Cell a -> IO Bool
begin cell = do
  me <- myThreadId
  let go = do
        status <- readStatus cell
        case status of
          Open Pending waiters -> do
            swapped <- swap cell status (Open (Started me) waiters)
            if swapped then pure True else go
          _ -> pure False
  go

-- | Puts the result there ('Done' or 'Failed') and wakes who waits. The caller is masked. Another
-- asynchronous exception that comes while an interrupt is awaited is thrown at the end.
finish :: Cell a -> Status a -> IO ()
finish cell result = do
  status <- readStatus cell
  case status of
    Open Cancelling _ -> do
      other <- try (interruptible (pure ()))
      yield
      finish cell result
      case other of
        Left e | not (isInterrupt cell e) -> throwIO e
        _ -> pure ()
    Open _ waiters -> do
      swapped <- swap cell status result
      if swapped
        then case waiters of
          [] -> pure ()
          _ -> forM_ waiters (`tryPutMVar` ())
        else finish cell result
    _ -> pure ()

-- | Interrupts the thread that computes the result, if one says that it does. The caller is
-- uninterruptible, and not that thread.
interrupt :: Cell a -> IO ()
interrupt cell = do
  status <- readStatus cell
  case status of
    Open (Started thread) waiters -> do
      swapped <- swap cell status (Open Cancelling waiters)
      if swapped
        then throwTo thread (Interrupt cell) >> acknowledge
        else interrupt cell
    Open Pending waiters -> do
      swapped <- swap cell status (Open Interrupted waiters)
      if swapped then pure () else interrupt cell
    _ -> pure ()
  where
    acknowledge = do
      status <- readStatus cell
      case status of
        Open Cancelling waiters -> do
          swapped <- swap cell status (Open Interrupted waiters)
          if swapped then pure () else acknowledge
        _ -> pure ()

-- | The result, if it is there.
poll :: Cell a -> IO (Maybe (Either SomeException a))
poll cell = do
  status <- readStatus cell
  pure $ case status of
    Done x -> Just (Right x)
    Failed e -> Just (Left e)
    _ -> Nothing
{-# INLINE poll #-}

-- | Waits for the result of a task, claimed or not. Asynchronous exceptions end the wait, as they do
-- 'takeMVar'. Where the task is still in a deque, a worker claims it: who waits here has seen to that
-- ('Capstan.Task.Pool.beforeWait').
wait :: Cell a -> IO (Either SomeException a)
wait cell = do
  status <- readStatus cell
  case status of
    Done x -> pure (Right x)
    Failed e -> pure (Left e)
    Open phase waiters -> do
      waiter <- newEmptyMVar
      swapped <- swap cell status (Open phase (waiter : waiters))
      if swapped then takeMVar waiter else pure ()
      wait cell
    _ -> yield >> wait cell
