{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Work.Cell
-- Description : A task from its beginning to its result, in one word
--
-- A cell is a 'MutVar#' that changes only by compare-and-swap. A task consists of nothing else.
-- Deques and promises refer to its cell:
--
-- > Task, Branch, Spark --claim--> Pending --begin--> Started ----------> Done or Failed
-- >         |                          |                  |                 ^  ^  ^
-- >         |                          v                  v                 |  |  |
-- >         |                     Interrupted        Interrupting ----------+  |  |
-- >         |                          +-----------------------------------+  |
-- >         +--claimed by its awaiter: Pending, or Own ------------------------+
--
-- Several threads may try to run a task at the same time. Such a thread is a worker that took it
-- from a deque, the thread that awaits it, or a thread that finds an entry that was left behind.
-- The claim decides which thread runs it.
--
-- A worker's visit to a scope has a cell as well, which no thread awaits ("Capstan.Task.Work.Visit").
-- It goes back from 'Started' to 'Pending' between two tasks ('pause').
--
-- == Interrupts
--
-- Each interrupt has a thread of its own, the thrower. It swaps 'Started' to 'Interrupting', with
-- its name, and throws 'Interrupt' when it is its turn ("Capstan.Task.Thread.Target"). A thread
-- that finishes and finds 'Interrupting' kills the thrower, and waits until the thrower has
-- received this, before it writes the result. By then the throw has arrived, was not begun, or was
-- taken back, as GHC does when a thrower is itself interrupted. So an interrupt arrives while its
-- task runs, or never. No exception arrives in 'finish', so if two exceptions come at the same
-- time, the later one is not lost but waits.
module Capstan.Task.Work.Cell
  ( Cell (..),
    Status (..),
    Phase (..),
    Waiter (..),
    Home (..),
    Interrupt (..),
    interruptOf,
    memberOf,
    isInterrupt,
    newCell,
    sameCell,
    look,
    claim,
    claimOwn,
    isOwn,
    isEnded,
    isInterrupted,
    begin,
    pause,
    finish,
    writeResult,
    wakeAll,
    interrupt,
    poll,
    wait,
    waitSurely,
    watch,
    takeSurely,
  )
where

import Capstan.Internal.Swap (swapVariable)
import Capstan.Task.Thread.Seeded (asMember, forkThrower, parkUntil, switchPoint, throwByTurns)
import Capstan.Task.Thread.Target
import Capstan.Task.Work.Counters (Counters)
import Capstan.Task.Work.Group (Group, Member (..))
import Control.Concurrent (ThreadId, killThread, myThreadId, yield)
import Control.Concurrent.MVar (MVar, isEmptyMVar, newEmptyMVar, takeMVar, tryPutMVar)
import Control.Exception
import Control.Monad (void)
import Control.Monad.Primitive (touch)
import Data.IORef (newIORef, readIORef)
import GHC.Conc (TVar, atomically, newTVarIO, writeTVar)
import GHC.Exts
import GHC.IO (IO (..), unsafeDupablePerformIO)

-- | The data of a scope that its tasks need.
data Home = Home
  { counters :: !Counters,
    group :: !Group,
    allEnded :: !(MVar ()),
    -- | The thread that opened the scope. While a task runs, GHC must not find this thread to be
    -- blocked for ever.
    opener :: !ThreadId
  }

-- | The state of a task, with its code or its waiters.
data Status a
  = -- | A task of a scope that has not begun.
    Task !Home (IO a)
  | -- | The right branch of a fork that has not begun, with the masking state of its owner.
    Branch !MaskingState (IO a)
  | -- | A value that has not been evaluated.
    Spark a
  | Open !Phase [Waiter]
  | Done a
  | Failed !SomeException

-- | A thread or transaction that waits for the result.
data Waiter
  = Parked !(MVar ())
  | -- | Transactions wait for the variable, which becomes 'True' when the result is there.
    Watched !(TVar Bool)

data Phase
  = -- | Claimed, but not begun; or run by a thread that awaits it, and not interruptible apart from
    -- that thread.
    Pending
  | -- | Claimed by the owner of the fork.
    Own
  | -- | The thread computes the result. The action stops all its forks that other workers have
    -- taken.
    Started !Target (IO ())
  | -- | The named thread throws, or has thrown, to the thread that had started.
    Interrupting !ThreadId
  | -- | Interrupted before it was begun.
    Interrupted

-- | The cell of a task.
data Cell a = Cell (MutVar# RealWorld (Status a))

instance Eq (Cell a) where
  Cell a == Cell b = isTrue# (sameMutVar# a b)

-- | Ends a computation whose result, in a cell, is no longer needed. The cell can be found as long
-- as any thread can ask for it.
data Interrupt = forall a. Interrupt (IO (Maybe (Cell a)))

instance Show Interrupt where
  show _ = "interrupted: another branch failed"

instance Exception Interrupt where
  toException = asyncExceptionToException
  fromException = asyncExceptionFromException

-- | The interrupt of a cell, as an exception.
interruptOf :: Cell a -> SomeException
interruptOf = toException . Interrupt . pure . Just

-- | The interrupt of a cell as an exception, and a member for the task's group. The calling thread,
-- which is given, is about to run the task. The group does not keep the cell alive
-- ("Capstan.Task.Thread.Target"), for a group is reachable as long as it has threads.
memberOf :: forall a. Target -> Self -> Cell a -> IO (SomeException, Member)
memberOf thread self (Cell var) = do
  over <- newIORef False
  workOn self (Work over var)
  let find = fmap cellOf <$> workOf thread over
  pure (toException (Interrupt find), Member (readIORef over) (find >>= mapM_ interrupt))
  where
    cellOf :: Work -> Cell a
    cellOf (Work _ known) = Cell (unsafeCoerce# known)

-- | Whether the exception is the interrupt of this cell.
isInterrupt :: Cell a -> SomeException -> Bool
isInterrupt (Cell mine) e = case fromException e of
  -- The lookup is pure: the cell exists while a caller asks for it.
  Just (Interrupt find) -> maybe False same (unsafeDupablePerformIO find)
  Nothing -> False
  where
    same (Cell var) = isTrue# (sameMutVar# mine (unsafeCoerce# var))

-- | Whether two cells of any types are the same.
sameCell :: Cell a -> Cell b -> Bool
sameCell (Cell a) (Cell b) = isTrue# (sameMutVar# a (unsafeCoerce# b))

-- | Makes a cell with a status. The status is evaluated, here and in 'swap', because a swap
-- compares pointers, and the pointer to a thunk changes when the thunk is evaluated.
newCell :: Status a -> IO (Cell a)
newCell !status = IO $ \s -> case newMutVar# status s of
  (# s1, var #) -> (# s1, Cell var #)
{-# INLINE newCell #-}

-- | The present status of a task.
look :: Cell a -> IO (Status a)
look = readStatus

readStatus :: Cell a -> IO (Status a)
readStatus (Cell var) = IO (readMutVar# var)
{-# INLINE readStatus #-}

-- | Swaps one status for another. It may fail without a reason, so each caller reads the status
-- again.
swap :: Cell a -> Status a -> Status a -> IO Bool
swap (Cell var) = swapVariable var
{-# INLINE swap #-}

-- | Claims a task that has not begun: its status becomes 'Open'. Returns the status from before.
claim :: Cell a -> IO (Status a)
claim = claimAs Pending

-- | As 'claim', for the owner of a fork.
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

-- | Whether the task has a result.
isEnded :: Cell a -> IO Bool
isEnded cell = do
  status <- readStatus cell
  pure $ case status of
    Done _ -> True
    Failed _ -> True
    _ -> False

-- | Whether a thread has interrupted the computation of the result, or is about to.
isInterrupted :: Cell a -> IO Bool
isInterrupted cell = do
  status <- readStatus cell
  pure $ case status of
    Open (Interrupting _) _ -> True
    Open Interrupted _ -> True
    _ -> False

-- | Notes that the thread computes the result and may be interrupted, with the action that stops
-- its forks. Only the thread that has claimed the task may call this. Returns 'False' if the task
-- was interrupted before.
begin :: Target -> IO () -> Cell a -> IO Bool
begin thread stopForked cell = do
  status <- readStatus cell
  case status of
    Open Pending waiters -> do
      swapped <- swap cell status (Open (Started thread stopForked) waiters)
      if swapped then pure True else begin thread stopForked cell
    _ -> pure False

-- | Notes that the thread computes nothing for now, after 'begin'. No exception arrives from here on
-- until it begins again. The caller has masked exceptions, and begins no more once its group is
-- doomed ("Capstan.Task.Work.Visit").
pause :: Cell a -> IO ()
pause cell = void (change cell (Open Pending))

-- | Writes the result ('Done' or 'Failed') and wakes the waiters. The caller has masked exceptions,
-- and no exception arrives.
finish :: Cell a -> Status a -> IO ()
finish cell result = writeResult cell result >>= wakeAll

-- | As 'finish', but leaves the waiters to the caller, which wakes them.
writeResult :: Cell a -> Status a -> IO [Waiter]
writeResult cell = change cell . const

-- | Changes the status of a claimed task, once no interrupt is on its way any more: it has arrived,
-- or it never will. Returns the waiters.
change :: Cell a -> ([Waiter] -> Status a) -> IO [Waiter]
change cell next = go
  where
    go = do
      status <- readStatus cell
      case status of
        Open phase waiters -> do
          case phase of
            Interrupting thrower -> uninterruptibleMask_ (killThread thrower >> switchPoint)
            _ -> pure ()
          swapped <- swap cell status (next waiters)
          if swapped then pure waiters else go
        _ -> pure []
{-# INLINE change #-}

-- | Wakes all that wait for a result.
wakeAll :: [Waiter] -> IO ()
wakeAll waiters = case waiters of
  [] -> pure ()
  _ -> mapM_ wake waiters
{-# INLINE wakeAll #-}

wake :: Waiter -> IO ()
wake (Parked box) = void (tryPutMVar box ())
wake (Watched over) = atomically (writeTVar over True)

-- | Interrupts the thread that computes the result, if the task has started, and at once stops all
-- its forks. Otherwise free workers would take more of them meanwhile. Does not wait for the
-- threads.
interrupt :: Cell a -> IO ()
interrupt cell = do
  status <- readStatus cell
  case status of
    Open (Started thread stopForked) _ -> do
      stopForked
      -- The thrower keeps the thread alive, so GHC does not find it to be blocked for ever before
      -- the interrupt arrives.
      known <- targetThread thread
      let thrower = myThreadId >>= throwAs >> mapM_ touch known
      asMember (`forkThrower` thrower) (void (forkMasked thrower))
    Open Pending waiters -> do
      swapped <- swap cell status (Open Interrupted waiters)
      if swapped then pure () else interrupt cell
    _ -> pure ()
  where
    throwAs me = do
      status <- readStatus cell
      case status of
        Open (Started thread _) waiters -> do
          swapped <- swap cell status (Open (Interrupting me) waiters)
          if swapped
            then throwByTurns thread (Interrupt (pure (Just cell))) `catch` \e -> let _ = e :: SomeAsyncException in pure ()
            else throwAs me
        _ -> pure ()

-- | The result, if the task has ended.
poll :: Cell a -> IO (Maybe (Either SomeException a))
poll cell = do
  status <- readStatus cell
  pure $ case status of
    Done x -> Just (Right x)
    Failed e -> Just (Left e)
    _ -> Nothing
{-# INLINE poll #-}

-- | Waits for the result of a task, claimed or not. Asynchronous exceptions end the wait, as they
-- end 'takeMVar'. If the task is still in a deque, a worker claims it ("Capstan.Task.Pool", P1).
--
-- When the collector finds a thread that is blocked for ever, it throws to that thread, and to all
-- threads that wait for it. This call ignores the first such exception, because the failure of the
-- awaited thread is on its way.
wait :: Cell a -> IO (Either SomeException a)
wait = waitBy $ \waiter -> inTurn waiter >> takeMVar waiter `catch` \BlockedIndefinitelyOnMVar -> takeMVar waiter

-- | As 'wait', for a caller that must not go on before the end of the task. The caller is
-- uninterruptible.
waitSurely :: Cell a -> IO (Either SomeException a)
waitSurely = waitBy takeSurely

-- | As 'takeMVar', but ignores 'BlockedIndefinitelyOnMVar'.
takeSurely :: MVar () -> IO ()
takeSurely box = do
  taken <- try (inTurn box >> takeMVar box)
  case taken of
    Left BlockedIndefinitelyOnMVar -> takeSurely box
    Right () -> pure ()

-- | In a seeded run, waits for the thread's turn to take the box.
inTurn :: MVar () -> IO ()
inTurn box = asMember (`parkUntil` (not <$> isEmptyMVar box)) (pure ())

waitBy :: (MVar () -> IO ()) -> Cell a -> IO (Either SomeException a)
waitBy sleep cell = do
  status <- readStatus cell
  case status of
    Done x -> pure (Right x)
    Failed e -> pure (Left e)
    Open phase waiters -> do
      waiter <- newEmptyMVar
      swapped <- swap cell status (Open phase (Parked waiter : waiters))
      if swapped then sleep waiter else pure ()
      waitBy sleep cell
    _ -> asMember (`parkUntil` isTaken cell) yield >> waitBy sleep cell

-- | A variable that becomes 'True' when the task ends. 'Nothing' if the task is not claimed. Does
-- not wait.
watch :: Cell a -> IO (Maybe (TVar Bool))
watch cell = do
  status <- readStatus cell
  case status of
    Done _ -> Just <$> newTVarIO True
    Failed _ -> Just <$> newTVarIO True
    Open phase waiters
      | known : _ <- [over | Watched over <- waiters] -> pure (Just known)
      | otherwise -> do
        over <- newTVarIO False
        swapped <- swap cell status (Open phase (Watched over : waiters))
        if swapped then pure (Just over) else watch cell
    _ -> pure Nothing
