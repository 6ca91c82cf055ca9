{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE FlexibleContexts #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module      : Capstan.Chan.Machine
-- Description : What a channel asks of the machine
--
-- The channel's protocol ("Capstan.Chan.Protocol") is written for any 'Machine'. One is 'IO'. The
-- tests have another that runs threads in every possible order, so the source that is explored is
-- the source that is shipped. Not for users.
module Capstan.Chan.Machine
  ( Machine (..),
  )
where

import Capstan.Internal.Swap (swapVariable)
import Capstan.Task.Thread.Briefly (briefly)
import Capstan.Task.Thread.Seeded (asMember, parkUntil)
import Control.Concurrent (forkOn, myThreadId, threadCapability, throwTo, yield)
import Control.Concurrent.MVar (MVar, isEmptyMVar, newEmptyMVar, readMVar, tryPutMVar, tryReadMVar)
import Control.Exception (MaskingState (..), SomeException, getMaskingState, mask_, throwIO, try, uninterruptibleMask_)
import Data.IORef (newIORef, readIORef)
import Data.Kind (Type)
import Data.Primitive.ByteArray (ByteArray, newByteArray, unsafeFreezeByteArray)
import GHC.Conc (ThreadStatus (..), threadStatus)
import GHC.IORef (IORef (..))
import GHC.STRef (STRef (..))

-- | A monad with shared memory, with slots in which threads wait, and with asynchronous exceptions.
class (Monad m, Eq (Slot m ()), Eq (Slot m Bool)) => Machine m where
  -- | A word of memory that holds an immutable value.
  type Cell m :: Type -> Type

  -- | What an object holds between two cells, so that who writes to one does not disturb who uses the other.
  type Gap m :: Type

  -- | A place that is filled once, and in which one thread may wait.
  type Slot m :: Type -> Type

  -- | The value is evaluated.
  newCell :: a -> m (Cell m a)

  -- | Reads with acquire order.
  readCell :: Cell m a -> m a

  -- | @replaceCell cell old new@ writes @new@ if the cell still holds the very value @old@ that was
  -- read from it, and says whether it did. A full barrier. @new@ must be evaluated.
  replaceCell :: Cell m a -> a -> a -> m Bool

  -- | So many bytes.
  newGap :: Int -> m (Gap m)

  newSlot :: m (Slot m a)

  -- | Fills the slot, unless it is full: a slot that is full remains so. Never waits.
  fillSlot :: Slot m a -> a -> m Bool

  -- | Waits until the slot is full, or returns the asynchronous exception that arrived earlier.
  -- Called masked.
  awaitSlot :: Slot m a -> m (Either SomeException a)

  -- | The same, not to be interrupted: the slot is full, or will be within a few steps.
  takeSlot :: Slot m a -> m a

  -- | Looks again for something that was not there, for a moment, and lets other threads run.
  lookOut :: m (Maybe a) -> m (Maybe a)

  -- | Asynchronous exceptions arrive in 'awaitSlot' only.
  masked :: m a -> m a

  throw :: SomeException -> m a

  -- | The asynchronous exception arrives again, in the state of exceptions in which the caller is: now, or when
  -- the caller can next be interrupted.
  postpone :: SomeException -> m ()

instance Machine IO where
  type Cell IO = IORef
  type Gap IO = ByteArray
  type Slot IO = MVar
  newCell !x = newIORef x
  {-# INLINE newCell #-}
  readCell = readIORef
  {-# INLINE readCell #-}

  -- The comparison is of pointers. Both values are evaluated, so each is an address of a constructor
  -- with that constructor's tag, and the caller passes on what it read: the same address.
  replaceCell (IORef (STRef variable)) = swapVariable variable
  {-# INLINE replaceCell #-}

  -- The collector copies what an object points to in the order of its fields. Without a gap two cells become neighbours in a line.
  newGap size = newByteArray size >>= unsafeFreezeByteArray
  newSlot = newEmptyMVar
  {-# INLINE newSlot #-}
  fillSlot = tryPutMVar
  {-# INLINE fillSlot #-}

  -- Read, not taken: a slot stays full, for an offer that comes later must be refused.
  -- Awake at first: to be woken takes about as long, where the partner is on another Capability.
  awaitSlot slot = try (inTurn slot >> briefly 20 (yield >> tryReadMVar slot) >>= maybe (readMVar slot) pure)
  {-# INLINE awaitSlot #-}
  takeSlot slot = uninterruptibleMask_ (inTurn slot >> readMVar slot)
  {-# INLINE takeSlot #-}
  lookOut look = briefly 2 (yield >> look)
  {-# INLINE lookOut #-}
  masked = mask_
  {-# INLINE masked #-}
  throw = throwIO
  postpone e = do
    masking <- getMaskingState
    if masking == Unmasked then throwIO e else leavePending e

-- | In a seeded run, waits for the turn to read what is in the slot.
inTurn :: MVar a -> IO ()
inTurn slot = asMember (`parkUntil` (not <$> isEmptyMVar slot)) (pure ())

-- | Throws to the calling thread, which is masked, and returns when the exception waits there. Not before: the thread could
-- leave the call for which the exception is meant, a time limit for one, and be hit outside of it.
--
-- By another thread, for an exception that a thread throws to itself does not wait. That thread is on the same Capability,
-- where what it throws is in its place at once; if the caller has been moved meanwhile, the message is there when
-- the Capability that the caller is on then has been through its scheduler, between two steps on it.
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
