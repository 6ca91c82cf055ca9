{-# LANGUAGE GADTs #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module      : Capstan.Event.Types
-- Description : Events, and the targets to which they are delivered
module Capstan.Event.Types
  ( Events (..),
    readable,
    writable,
    hangUp,
    failed,
    closed,
    intersects,
    Ready (..),
    Expiry (..),
    clock,
    Target (..),
    Callback,
    EventHandle (..),
    deliver,
  )
where

import Capstan.Duration (Duration, nanoseconds)
import Capstan.Event.Foreign
import Capstan.Internal.EventHandle (EventHandle (..))
import Control.Concurrent.MVar (MVar, tryPutMVar)
import Control.Monad (void)
import Data.Bits ((.&.), (.|.))
import Data.List (intercalate)
import Data.Word (Word32, Word64)
import Foreign.Ptr (FunPtr, Ptr)
import GHC.Conc (STM, atomically)
import System.Posix.Types (Fd)

-- * Events

-- | A set of events of a descriptor. '<>' is union. The bits are those of @capstan.h@.
newtype Events = Events Word32
  deriving (Eq, Ord)

instance Semigroup Events where
  Events a <> Events b = Events (a .|. b)

instance Monoid Events where
  mempty = Events 0

instance Show Events where
  show events = "[" ++ intercalate "," [name | (name, event) <- table, events `intersects` event] ++ "]"
    where
      table =
        [ ("readable", readable),
          ("writable", writable),
          ("hangUp", hangUp),
          ("failed", failed),
          ("closed", closed)
        ]

-- | Reading will not block: there is data, a connection to accept, or the end of the file.
readable :: Events
readable = Events 1

-- | Writing will not block.
writable :: Events
writable = Events 4

-- | The descriptor has an error. A manager reports this even if the registration does not name it.
failed :: Events
failed = Events 8

-- | The peer has closed its side. If both sides are closed, a manager reports this even if the
-- registration does not name it. For the writing end of a pipe whose readers have all closed, Linux
-- reports 'failed' instead.
hangUp :: Events
hangUp = Events 16

-- | The registration has ended, because the descriptor was closed or the manager shut down. A
-- registration cannot ask for this event.
closed :: Events
closed = Events 32

-- | Whether the two sets have an event in common.
intersects :: Events -> Events -> Bool
intersects (Events a) (Events b) = a .&. b /= 0
{-# INLINE intersects #-}

-- | A descriptor is ready.
data Ready = Ready
  { readyFd :: !Fd,
    readyEvents :: !Events
  }
  deriving (Eq, Show)

-- | A timer has fired.
newtype Expiry = Expiry
  { -- | The number is 1 for a one-time timer. For a periodic timer it is the number of periods
    -- since the last delivery. It is 0 when the manager was shut down before.
    expirations :: Word64
  }
  deriving (Eq, Show)

-- | The monotonic time since the machine started. It does not advance while the machine is
-- suspended.
clock :: IO Duration
clock = nanoseconds . fromIntegral <$> c_clock

-- * Targets

-- | The reaction of a manager to an event of type @a@.
data Target a where
  -- | Runs the action on the manager's thread. The action should not block, as all other actions of
  -- that manager wait for it. An exception ends the action and goes to the manager's handler
  -- ('Capstan.Event.setExceptionHandler').
  Run :: (a -> IO ()) -> Target a
  -- | Puts the value, if the variable is empty.
  Fill :: MVar a -> Target a
  -- | Commits the transaction. A transaction that retries blocks the manager.
  Transact :: (a -> STM ()) -> Target a
  -- | Calls a C function with the pointer as its data, as @capstan.h@ says, by a safe call.
  Call :: FunPtr (Callback a) -> Ptr () -> Target a
  -- | Completes an OpenMP task that was made with @detach@.
  Complete :: EventHandle -> Target a

-- | The C functions that 'Call' calls: @capstan_fd_function@, @capstan_timer_function@ and
-- @capstan_post_function@.
type family Callback a where
  Callback Ready = CFdFunction
  Callback Expiry = CTimerFunction
  Callback () = CPostFunction

deliver :: Target a -> a -> IO ()
deliver target value = case target of
  Run action -> action value
  Fill variable -> void (tryPutMVar variable value)
  Transact transaction -> atomically (transaction value)
  Complete (EventHandle event) -> c_fulfill_event event
  Call _ _ -> pure () -- needs the manager, so "Capstan.Event.Internal" makes these calls
{-# INLINE deliver #-}
