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
import Control.Concurrent (forkIO, myThreadId, throwTo)
import Control.Concurrent.MVar (MVar, newEmptyMVar, readMVar, tryPutMVar)
import Control.Exception (SomeException, mask_, throwIO, try, uninterruptibleMask_)
import Control.Monad (void)
import Data.IORef (IORef, newIORef, readIORef)
import Data.Kind (Type)
import GHC.IORef (IORef (..))
import GHC.STRef (STRef (..))

-- | A monad with shared memory, with slots in which threads wait, and with asynchronous exceptions.
class (Monad m, Eq (Cell m ()), Eq (Slot m Bool)) => Machine m where
  -- | A word of memory that holds an immutable value.
  type Cell m :: Type -> Type

  -- | A place that is filled once, and in which one thread may wait.
  type Slot m :: Type -> Type

  newCell :: a -> m (Cell m a)

  -- | Reads with acquire order.
  readCell :: Cell m a -> m a

  -- | @replaceCell cell old new@ writes @new@ if the cell still holds the very value @old@ that was
  -- read from it, and says whether it did. A full barrier. @new@ must be evaluated.
  replaceCell :: Cell m a -> a -> a -> m Bool

  newSlot :: m (Slot m a)

  -- | Fills the slot, unless it is full: a slot that is full remains so. Never waits.
  fillSlot :: Slot m a -> a -> m Bool

  -- | Waits until the slot is full, or returns the asynchronous exception that arrived earlier.
  -- Called masked.
  awaitSlot :: Slot m a -> m (Either SomeException a)

  -- | The same, not to be interrupted: the slot is full, or will be within a few steps.
  takeSlot :: Slot m a -> m a

  -- | Asynchronous exceptions arrive in 'awaitSlot' only.
  masked :: m a -> m a

  throw :: SomeException -> m a

  -- | The asynchronous exception arrives again, at the next point where the thread can be
  -- interrupted.
  postpone :: SomeException -> m ()

instance Machine IO where
  type Cell IO = IORef
  type Slot IO = MVar
  newCell = newIORef
  {-# INLINE newCell #-}
  readCell = readIORef
  {-# INLINE readCell #-}

  -- The comparison is of pointers. Both values are evaluated, so each is an address of a constructor
  -- with that constructor's tag, and the caller passes on what it read: the same address.
  replaceCell (IORef (STRef variable)) = swapVariable variable
  {-# INLINE replaceCell #-}
  newSlot = newEmptyMVar
  {-# INLINE newSlot #-}
  fillSlot = tryPutMVar
  {-# INLINE fillSlot #-}

  -- Read, not taken: a slot stays full, for an offer that comes later must be refused.
  awaitSlot = try . readMVar
  {-# INLINE awaitSlot #-}
  takeSlot = uninterruptibleMask_ . readMVar
  {-# INLINE takeSlot #-}
  masked = mask_
  {-# INLINE masked #-}
  throw = throwIO
  postpone e = do
    me <- myThreadId
    -- By another thread: an exception that a thread throws to itself does not wait.
    void (forkIO (throwTo me e))
