{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Work.Cell
-- Description : A task from its beginning to its result, in one word
--
-- A cell is a 'MutVar#' that changes by compare-and-swap only. It lies in a deque, is held by promises,
-- and is all that a task is made of:
--
-- > Task, Branch, Spark --claim--> Pending --begin--> Started ----------> Done or Failed
-- >         |                          |                  |                 ^  ^  ^
-- >         |                          v                  v                 |  |  |
-- >         |                     Interrupted        Interrupting ----------+  |  |
-- >         |                          +-----------------------------------+  |
-- >         +--claimed by who awaits it: Pending, or Own ----------------------+
--
-- A task may be met by several threads at once: a worker that took it from a deque, the thread that
-- awaits it, those who find an entry that was left behind. The claim decides who runs it.
--
-- == Interrupts
--
-- Each interrupt has a thread of its own. It swaps 'Started' to 'Interrupting', with its name, and throws
-- 'Interrupt' when it is its turn ("Capstan.Task.Thread.Target"). A thread that finishes and finds 'Interrupting'
-- kills that thread, and waits until it has received that, before it shows the result. By then the throw has
-- arrived, or is taken back, as GHC does when the thrower is itself interrupted, or was not begun. So an
-- interrupt arrives while its task runs, or never; and to finish never lets an exception in, so of two
-- exceptions that come at once the later one is not lost but waits.
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
    finish,
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

-- | Where a task of a scope belongs.
data Home = Home
  { counters :: !Counters,
    group :: !Group,
    allEnded :: !(MVar ()),
    -- | Who opened the scope: while a task runs, that is not found to be blocked for ever.
    opener :: !ThreadId
  }

-- | What a task is, how far it has come, and who waits for it.
data Status a
  = -- | A task of a scope, not begun.
    Task !Home (IO a)
  | -- | The right branch of a fork, not begun, and whether its owner has masked exceptions.
    Branch !MaskingState (IO a)
  | -- | A value, not evaluated.
    Spark a
  | Open !Phase [Waiter]
  | Done a
  | Failed !SomeException

-- | One that waits for the result.
data Waiter
  = Parked !(MVar ())
  | -- | Transactions. It turns true when the result is there.
    Watched !(TVar Bool)

data Phase
  = -- | Claimed, and not begun; or run by a thread that awaits it, and not to be interrupted apart from it.
    Pending
  | -- | Claimed by the owner of the fork.
    Own
  | -- | That thread computes the result; and what stops all that it has forked and others have taken.
    Started !Target (IO ())
  | -- | A thread throws, or has thrown, to the one that had started.
    Interrupting !ThreadId
  | -- | Interrupted before it was begun.
    Interrupted

-- | A place for a result.
data Cell a = Cell (MutVar# RealWorld (Status a))

instance Eq (Cell a) where
  Cell a == Cell b = isTrue# (sameMutVar# a b)

-- | Ends a computation whose result, in that cell, nobody wants any more. The cell is there as long as anybody can ask.
data Interrupt = forall a. Interrupt (IO (Maybe (Cell a)))

instance Show Interrupt where
  show _ = "interrupted: another branch failed"

instance Exception Interrupt where
  toException = asyncExceptionToException
  fromException = asyncExceptionFromException

-- | The interrupt of a cell, as an exception.
interruptOf :: Cell a -> SomeException
interruptOf = toException . Interrupt . pure . Just

-- | For the calling thread, which is given and is about to run the task: what the task's group has of the cell, which is
-- the interrupt of it as an exception, and a member. The group does not keep the cell ("Capstan.Task.Thread.Target"), for a group is known as
-- long as there are threads in it.
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
  -- Pure: while one asks for this cell it is there.
  Just (Interrupt find) -> maybe False same (unsafeDupablePerformIO find)
  Nothing -> False
  where
    same (Cell var) = isTrue# (sameMutVar# mine (unsafeCoerce# var))

-- | Whether the two are one, of whatever types.
sameCell :: Cell a -> Cell b -> Bool
sameCell (Cell a) (Cell b) = isTrue# (sameMutVar# a (unsafeCoerce# b))

-- | A cell with that status. What is stored is evaluated, here and in 'swap': a swap compares pointers,
-- and the pointer to a thunk is another once the thunk is evaluated.
newCell :: Status a -> IO (Cell a)
newCell !status = IO $ \s -> case newMutVar# status s of
  (# s1, var #) -> (# s1, Cell var #)
{-# INLINE newCell #-}

-- | What the task is now.
look :: Cell a -> IO (Status a)
look = readStatus

readStatus :: Cell a -> IO (Status a)
readStatus (Cell var) = IO (readMutVar# var)
{-# INLINE readStatus #-}

-- | Swaps one status for another. Its failure proves nothing, so each caller looks again.
swap :: Cell a -> Status a -> Status a -> IO Bool
swap (Cell var) = swapVariable var
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

-- | Whether the result is there.
isEnded :: Cell a -> IO Bool
isEnded cell = do
  status <- readStatus cell
  pure $ case status of
    Done _ -> True
    Failed _ -> True
    _ -> False

-- | Whether somebody has interrupted who computes the result, or is about to.
isInterrupted :: Cell a -> IO Bool
isInterrupted cell = do
  status <- readStatus cell
  pure $ case status of
    Open (Interrupting _) _ -> True
    Open Interrupted _ -> True
    _ -> False

-- | Says that this thread computes the result and may be interrupted, and what stops all that it forks. For who has claimed it. The
-- answer is 'False' if it was interrupted before.
begin :: Target -> IO () -> Cell a -> IO Bool
begin thread stopForked cell = do
  status <- readStatus cell
  case status of
    Open Pending waiters -> do
      swapped <- swap cell status (Open (Started thread stopForked) waiters)
      if swapped then pure True else begin thread stopForked cell
    _ -> pure False

-- | Puts the result there ('Done' or 'Failed') and wakes who waits. The caller is masked; no exception
-- comes in.
finish :: Cell a -> Status a -> IO ()
finish cell result = do
  status <- readStatus cell
  case status of
    Open phase waiters -> do
      case phase of
        Interrupting thrower -> uninterruptibleMask_ (killThread thrower >> switchPoint)
        _ -> pure ()
      swapped <- swap cell status result
      if swapped
        then case waiters of
          [] -> pure ()
          _ -> mapM_ wake waiters
        else finish cell result
    _ -> pure ()

wake :: Waiter -> IO ()
wake (Parked box) = void (tryPutMVar box ())
wake (Watched over) = atomically (writeTVar over True)

-- | Sees to it that the thread that computes the result, if one says that it does, is interrupted, and at once all that it has forked: else
-- who is free meanwhile would take more of it. Does not wait for them.
interrupt :: Cell a -> IO ()
interrupt cell = do
  status <- readStatus cell
  case status of
    Open (Started thread stopForked) _ -> do
      stopForked
      -- Until the interrupt comes nobody finds that thread to be blocked for ever.
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
-- 'takeMVar'. Where the task is still in a deque, a worker claims it ("Capstan.Task.Pool", P1).
--
-- When the collector finds a thread that is blocked for ever, it says so to all that wait for that thread
-- too. The first time this is not believed: the thread's own failure is on its way.
wait :: Cell a -> IO (Either SomeException a)
wait = waitBy $ \waiter -> inTurn waiter >> takeMVar waiter `catch` \BlockedIndefinitelyOnMVar -> takeMVar waiter

-- | As 'wait', for who must not go on before the end of the task. The caller is uninterruptible.
waitSurely :: Cell a -> IO (Either SomeException a)
waitSurely = waitBy takeSurely

-- | As 'takeMVar', whatever the collector says.
takeSurely :: MVar () -> IO ()
takeSurely box = do
  taken <- try (inTurn box >> takeMVar box)
  case taken of
    Left BlockedIndefinitelyOnMVar -> takeSurely box
    Right () -> pure ()

-- | In a seeded run, waits for the turn to take what is in the box.
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

-- | What turns true when the task ends; nothing if nobody has claimed it. Does not wait.
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
