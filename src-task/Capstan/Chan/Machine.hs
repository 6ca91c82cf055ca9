{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE FlexibleContexts #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module      : Capstan.Chan.Machine
-- Description : The operations that a channel needs
--
-- The channel's protocol ("Capstan.Chan.Protocol") is written for any 'Machine'. 'IO' is such a
-- machine. The tests have a machine that runs threads in every possible order, so they explore the
-- very source that is shipped. Not for users.
module Capstan.Chan.Machine
  ( Machine (..),
    Waited (..),
  )
where

import Capstan.Internal.Swap (swapVariable)
import Capstan.Task.Thread.Briefly (briefly)
import Capstan.Task.Thread.Seeded (asMember, parkUntil)
import Control.Concurrent (forkOn, myThreadId, threadCapability, throwTo, yield)
import Control.Concurrent.MVar (MVar, isEmptyMVar, newEmptyMVar, readMVar, takeMVar, tryPutMVar, tryReadMVar, tryTakeMVar)
import Control.Exception (MaskingState (..), SomeException, getMaskingState, mask_, throwIO, try, uninterruptibleMask_)
import Data.IORef (newIORef, readIORef)
import Data.Kind (Type)
import Data.Maybe (isNothing)
import Data.Primitive.ByteArray (ByteArray, newByteArray, unsafeFreezeByteArray)
import GHC.Conc (ThreadStatus (..), threadStatus)
import GHC.IORef (IORef (..))
import GHC.STRef (STRef (..))

-- | A monad with shared memory, with slots in which threads wait, and with asynchronous exceptions.
--
-- A thread waits for a slot or for an offer. A slot is filled whatever its waiter does. An offer is
-- refused if its waiter was interrupted, so the two never both happen.
class (Monad m, Eq (Slot m ()), Eq (Slot m Bool)) => Machine m where
  -- | A word of memory that holds an immutable value.
  type Cell m :: Type -> Type

  -- | Unused bytes between two cells of an object. Writers of one cell then do not disturb users of
  -- the other cell.
  type Gap m :: Type

  -- | A place that is filled once, and for which one thread may wait.
  type Slot m :: Type -> Type

  -- | A place that is filled once, if the one thread that may wait for it is not interrupted first.
  type Offer m :: Type -> Type

  -- | Makes a cell, and evaluates its value.
  newCell :: a -> m (Cell m a)

  -- | Reads with acquire order.
  readCell :: Cell m a -> m a

  -- | @replaceCell cell old new@ writes @new@ if the cell still holds the very object @old@ that
  -- was read from it, and returns whether it did. It is a full barrier. @new@ must be evaluated.
  replaceCell :: Cell m a -> a -> a -> m Bool

  -- | Makes a gap of a number of bytes.
  newGap :: Int -> m (Gap m)

  newSlot :: m (Slot m a)

  -- | Fills the slot, unless it is full, and returns whether it did. A full slot stays full. Never
  -- waits.
  fillSlot :: Slot m a -> a -> m Bool

  -- | Waits until the slot is full, or returns an asynchronous exception that arrives earlier. The
  -- caller has masked exceptions.
  awaitSlot :: Slot m a -> m (Either SomeException a)

  -- | As 'awaitSlot', but cannot be interrupted: the slot is full, or another thread fills it
  -- within a few steps.
  takeSlot :: Slot m a -> m a

  newOffer :: m (Offer m a)

  -- | Fills the offer, and returns whether it did. The value is refused if the offer was filled or
  -- claimed before, or if its waiter was interrupted. Then the waiter does not get it. Never waits.
  fillOffer :: Offer m a -> a -> m Bool

  -- | Before it waits, the thread that made the offer refuses all values. Returns whether none had
  -- come.
  claimOffer :: Offer m a -> m Bool

  -- | Waits for an offer that the thread has not claimed. The caller has masked exceptions.
  awaitOffer :: Offer m a -> m (Waited a)

  -- | Repeats a poll that found nothing, for a moment, and lets other threads run in between.
  lookOut :: m (Maybe a) -> m (Maybe a)

  -- | Runs an operation in which asynchronous exceptions arrive only in 'awaitSlot'.
  masked :: m a -> m a

  throw :: SomeException -> m a

  -- | Makes an asynchronous exception arrive again, in the masking state of the caller: now, or
  -- when the caller can next be interrupted.
  postpone :: SomeException -> m ()

-- | The end of a wait for an offer.
data Waited a
  = Filled a
  | -- | A value was refused as the thread was about to wait: nothing has happened.
    Missed
  | -- | An exception came, and no value.
    Interrupted SomeException
  | -- | An exception came after the value. Only in a seeded run.
    FilledLate SomeException a

-- | An offer of 'IO': a phase, and an MVar that is empty but for moments. An exception hits a
-- waiter only while it is blocked on the MVar. GHC decides in one step, under the MVar's lock,
-- whether a blocked thread gets a value or an exception. So the filler looks whether its value was
-- handed over: if the value is still in the MVar, the waiter is not blocked there. It was
-- interrupted, or it is about to block; the filler cannot know which. It takes the value back, and
-- puts 'Nothing' in its place, which sends a waiter that was about to block away.
data Place a = Place !(IORef Phase) !(MVar (Maybe a))

data Phase
  = -- | The thread does not wait yet, or it polls. It is not interrupted.
    Awake
  | -- | The thread is blocked, or about to block, or interrupted.
    Parked
  | -- | The offer was filled, refused or claimed, or the thread was interrupted.
    Over
  deriving (Eq)

-- | One step from one phase to another.
step :: IORef Phase -> Phase -> Phase -> IO Bool
step !phase !old !new = do
  now <- readIORef phase
  if now /= old then pure False else replaceCell phase now new >>= \done -> if done then pure True else step phase old new

offered :: Place a -> a -> IO Bool
offered (Place phase box) x = do
  awake <- step phase Awake Over
  if awake then True <$ tryPutMVar box (Just x) else step phase Parked Over >>= \parked -> if parked then hand else pure False
  where
    hand = do
      _ <- tryPutMVar box (Just x)
      left <- tryTakeMVar box
      if isNothing left then pure True else False <$ tryPutMVar box Nothing

awaited :: Place a -> IO (Waited a)
awaited place@(Place phase box) = asMember (const (awaitedInTurn place)) $ do
  found <- briefly 20 (yield >> tryTakeMVar box)
  case found of
    Just x -> pure (given x)
    Nothing -> do
      parks <- step phase Awake Parked
      -- Without that step the filler has begun, and puts its value within a few steps.
      if parks then try (takeMVar box) >>= either interrupted (pure . given) else given <$> uninterruptibleMask_ (takeMVar box)
  where
    given = maybe Missed Filled
    -- If a filler has ended the phase, it finds its value in the MVar, and takes it back.
    interrupted e = Interrupted e <$ step phase Parked Over

-- | In a seeded run the thread waits for its turn, and an exception may come with the turn.
awaitedInTurn :: Place a -> IO (Waited a)
awaitedInTurn (Place phase box) = try (inTurn box) >>= either interrupted (const filled)
  where
    filled = maybe Missed Filled <$> uninterruptibleMask_ (takeMVar box)
    interrupted e = do
      first <- step phase Awake Over
      if first then pure (Interrupted e) else maybe Missed (FilledLate e) <$> uninterruptibleMask_ (takeMVar box)

instance Machine IO where
  type Cell IO = IORef
  type Gap IO = ByteArray
  type Slot IO = MVar
  type Offer IO = Place
  newCell !x = newIORef x
  {-# INLINE newCell #-}
  readCell = readIORef
  {-# INLINE readCell #-}

  -- The comparison is of pointers. Both values are evaluated, so each is the address of a
  -- constructor with its tag. The caller passes on the value that it read, so the address is the
  -- same.
  replaceCell (IORef (STRef variable)) = swapVariable variable
  {-# INLINE replaceCell #-}

  -- The collector copies the objects of a record in the order of its fields. Without a gap, two
  -- cells become neighbours on a cache line.
  newGap size = newByteArray size >>= unsafeFreezeByteArray
  newSlot = newEmptyMVar
  {-# INLINE newSlot #-}
  fillSlot = tryPutMVar
  {-# INLINE fillSlot #-}

  -- The slot is read, not taken, so it stays full: an offer that comes later must be refused. The
  -- thread first polls awake for 20 µs, because the wake of a parked thread takes about that time
  -- if the partner is on another Capability.
  awaitSlot slot = try (inTurn slot >> briefly 20 (yield >> tryReadMVar slot) >>= maybe (readMVar slot) pure)
  {-# INLINE awaitSlot #-}
  takeSlot slot = uninterruptibleMask_ (inTurn slot >> readMVar slot)
  {-# INLINE takeSlot #-}
  newOffer = Place <$> newIORef Awake <*> newEmptyMVar
  {-# INLINE newOffer #-}
  fillOffer = offered
  claimOffer (Place phase _) = step phase Awake Over
  {-# INLINE claimOffer #-}
  awaitOffer = awaited
  lookOut look = briefly 2 (yield >> look)
  {-# INLINE lookOut #-}
  masked = mask_
  {-# INLINE masked #-}
  throw = throwIO
  postpone e = do
    masking <- getMaskingState
    if masking == Unmasked then throwIO e else leavePending e

-- | In a seeded run, waits for the thread's turn to read the variable.
inTurn :: MVar a -> IO ()
inTurn box = asMember (`parkUntil` (not <$> isEmptyMVar box)) (pure ())

-- | Throws to the calling thread, which has masked exceptions, and returns when the exception is
-- pending there. It must not return earlier. Otherwise the exception could hit the thread after the
-- call for which it is meant, such as a time limit.
--
-- Another thread throws, because an exception that a thread throws to itself does not become
-- pending. The thrower is on the same Capability, where its exception is pending at once. If GHC
-- has moved the caller meanwhile, the exception travels as a message. It has arrived when the
-- caller's Capability has run its scheduler between two steps of the caller on that Capability.
leavePending :: SomeException -> IO ()
leavePending e = do
  me <- myThreadId
  (here, _) <- threadCapability me
  thrower <- forkOn here (throwTo me e)
  let thrown = do
        status <- threadStatus thrower
        if status == ThreadRunning then yield >> thrown else arrived
      arrived = do
        (before, _) <- threadCapability me
        yield
        (after, _) <- threadCapability me
        if before == after then pure () else arrived
  thrown
