{-# LANGUAGE GADTs #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module      : Capstan.Event.Types
-- Description : What happens, and where it is delivered
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

-- * What happens

-- | A set of things that happen to a descriptor. '<>' is union. The bits are those of @capstan.h@.
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

-- | The descriptor has an error. Reported whether asked for or not.
failed :: Events
failed = Events 8

-- | The peer has closed its side. Reported whether asked for or not when both sides are closed. For the
-- writing end of a pipe that nobody reads any more Linux says 'failed' instead.
hangUp :: Events
hangUp = Events 16

-- | The registration has ended, because the descriptor was closed or the manager shut down. Reported
-- only.
closed :: Events
closed = Events 32

-- | Whether the two sets have something in common.
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
  { -- | 1 for a one-time timer; for a periodic one, the periods that have passed since last time; 0
    -- when the manager was shut down before.
    expirations :: Word64
  }
  deriving (Eq, Show)

-- | Monotonic time, since the machine began; it does not advance while the machine is suspended.
clock :: IO Duration
clock = nanoseconds . fromIntegral <$> c_clock

-- * Where it is delivered

-- | What a manager does when something happens.
data Target a where
  -- | Runs the action on the manager's thread. It should not block: all else on that manager waits.
  -- An exception ends the action and goes to the manager's handler ('Capstan.Event.setExceptionHandler').
  Run :: (a -> IO ()) -> Target a
  -- | Puts the value, if the variable is empty.
  Fill :: MVar a -> Target a
  -- | Commits the transaction. One that retries blocks the manager.
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
  Call _ _ -> pure () -- needs the manager; see where registrations are made
{-# INLINE deliver #-}
