-- |
-- Module      : Capstan.Event.Compat
-- Description : The names and types of GHC.Event
-- Stability   : experimental
--
-- The module is meant to be imported in place of "GHC.Event": that switches a program to Capstan. Two
-- packages pass their own tests with it: @network@ 3.1.1.1, whose @gracefulClose@ registers
-- descriptors and timeouts, and @time-manager@ 0.3.2, which keeps Warp's timeouts. The module also
-- has 'loop', 'step' and 'shutdown', which drive a manager made by 'new'. GHC.Event does not export
-- them any more.
--
-- A program can notice these differences:
--
-- * After 'unregisterFd' the callback does not start any more, unless another thread is just about
--   to start it. GHC.Event promises nothing.
-- * A callback gets only events that its registration names, unless the descriptor has ended or has
--   an error. GHC.Event adds the events of other registrations of the descriptor.
-- * A regular file, or a device such as @\/dev\/null@, is always ready, so its callback runs at once.
--   GHC.Event (of base 4.15) throws. For a descriptor that is not open, both throw.
-- * With 'closeFd' the manager's thread calls the callbacks, perhaps after 'closeFd' has returned.
--   GHC.Event calls them on the calling thread.
-- * A callback of a timeout may throw. The exception goes to the manager's handler, and other
--   callbacks run. In GHC.Event no timeout of the process fires after that.
-- * Each Capability has a timer manager, and 'getSystemTimerManager' returns the manager of the
--   calling thread's Capability. A 'TimeoutKey' knows its manager.
--
-- @since 0.1.0
module Capstan.Event.Compat
  ( -- * Types
    EventManager,
    TimerManager,

    -- * Creation
    getSystemEventManager,
    new,
    getSystemTimerManager,

    -- * Running
    loop,
    step,
    shutdown,

    -- * Registering interest in I\/O events
    Event,
    evtRead,
    evtWrite,
    IOCallback,
    FdKey (keyFd),
    Lifetime (..),
    registerFd,
    unregisterFd,
    unregisterFd_,
    closeFd,

    -- * Registering interest in timeout events
    TimeoutCallback,
    TimeoutKey,
    registerTimeout,
    updateTimeout,
    unregisterTimeout,
  )
where

import Capstan.Duration (microseconds, unlimited)
import Capstan.Event.Internal
  ( Events,
    Manager,
    Target (..),
    Timer (..),
    Trigger (Level),
    Watch,
    intersects,
    newManager,
    readable,
    systemManager,
    writable,
  )
import qualified Capstan.Event.Internal as Event
import Control.Concurrent (rtsSupportsBoundThreads)
import Control.Monad (void)
import Data.List (intercalate)
import Data.Ord (comparing)
import System.Posix.Types (Fd)

-- | Watches descriptors.
newtype EventManager = EventManager Manager

-- | Keeps timers.
newtype TimerManager = TimerManager Manager

-- | The manager of the calling thread's Capability; 'Nothing' without the threaded RTS.
getSystemEventManager :: IO (Maybe EventManager)
getSystemEventManager
  | rtsSupportsBoundThreads = Just . EventManager <$> systemManager
  | otherwise = pure Nothing

-- | A manager that the program drives with 'loop' or 'step'.
new :: IO EventManager
new = EventManager <$> newManager

-- | The timers of the calling thread's Capability.
getSystemTimerManager :: IO TimerManager
getSystemTimerManager = TimerManager <$> systemManager

-- | Drives a manager until 'shutdown'.
loop :: EventManager -> IO ()
loop (EventManager manager) = Event.loop manager

-- | Drives the manager for one turn. It waits until there is work, also when signals interrupt it.
-- Returns 'False' after 'shutdown', when no work is left.
step :: EventManager -> IO Bool
step (EventManager manager) = Event.stepUntilSome manager

-- | Makes 'loop' return.
shutdown :: EventManager -> IO ()
shutdown (EventManager manager) = Event.shutdown manager

-- | An I\/O event.
newtype Event = Event Events
  deriving (Eq)

instance Semigroup Event where
  Event a <> Event b = Event (a <> b)

instance Monoid Event where
  mempty = Event mempty

instance Show Event where
  show (Event events) = "[" ++ intercalate "," names ++ "]"
    where
      names =
        ["evtRead" | events `intersects` readable]
          ++ ["evtWrite" | events `intersects` writable]
          ++ ["evtClose" | events `intersects` Event.closed]

-- | Data is available to be read.
evtRead :: Event
evtRead = Event readable

-- | The descriptor is ready to accept a write.
evtWrite :: Event
evtWrite = Event writable

-- | Called when one of the events has happened.
type IOCallback = FdKey -> Event -> IO ()

-- | A registration.
data FdKey = FdKey
  { -- | The descriptor.
    keyFd :: !Fd,
    keyWatch :: !Watch
  }

instance Eq FdKey where
  a == b = keyWatch a == keyWatch b

instance Show FdKey where
  showsPrec d key = showParen (d > 10) (showString "FdKey {keyFd = " . shows (keyFd key) . showChar '}')

-- | How long a registration lasts.
data Lifetime
  = -- | Until its callback has been called once.
    OneShot
  | -- | Until it is unregistered.
    MultiShot
  deriving (Show, Eq)

-- | The longer of two.
instance Semigroup Lifetime where
  OneShot <> OneShot = OneShot
  _ <> _ = MultiShot

instance Monoid Lifetime where
  mempty = OneShot

-- | Calls the callback when one of the events happens.
registerFd :: EventManager -> IOCallback -> Fd -> Event -> Lifetime -> IO FdKey
registerFd (EventManager manager) callback fd (Event events) lifetime =
  key <$> Event.registerKnowing manager fd events (lasting lifetime) Level run
  where
    key = FdKey fd
    run watch happened = callback (key watch) (Event (visible happened))
    -- As in GHC.Event: an end or an error counts as both events, and a closed descriptor as all
    -- events that the registration names.
    visible happened
      | happened `intersects` Event.closed = events <> Event.closed
      | happened `intersects` (Event.failed <> Event.hangUp) = readable <> writable
      | otherwise = mconcat [e | e <- [readable, writable], happened `intersects` e]
    lasting OneShot = Event.OneShot
    lasting MultiShot = Event.Persistent

-- | Ends a registration.
unregisterFd :: EventManager -> FdKey -> IO ()
unregisterFd manager = void . unregisterFd_ manager

-- | Ends a registration. Returns whether it was still active.
unregisterFd_ :: EventManager -> FdKey -> IO Bool
unregisterFd_ _ = Event.unregister . keyWatch

-- | Ends all registrations of a descriptor with this manager, and closes it. Each callback is
-- called once more, with the events of its registration and an extra event, which differs from
-- 'evtRead' and 'evtWrite'.
closeFd :: EventManager -> (Fd -> IO ()) -> Fd -> IO ()
closeFd (EventManager manager) = Event.closeWith (Just manager)

-- | Called when a timeout has passed.
type TimeoutCallback = IO ()

-- | A timeout.
newtype TimeoutKey = TimeoutKey Timer
  deriving (Eq)

instance Ord TimeoutKey where
  -- Two managers may give the same name.
  compare (TimeoutKey a) (TimeoutKey b) = comparing timerIdent a b <> comparing timerManager a b

-- | Calls the callback after a number of microseconds. If the number is 0 or negative, the calling
-- thread calls it at once.
registerTimeout :: TimerManager -> Int -> TimeoutCallback -> IO TimeoutKey
registerTimeout (TimerManager manager) us callback
  | us > 0 = start (microseconds us) callback
  | otherwise = do
    callback
    key <- start unlimited (pure ()) -- for the key alone
    key <$ unregisterTimeout (TimerManager manager) key
  where
    start delay = fmap TimeoutKey . Event.startTimer manager delay . Run . const

-- | Restarts a timeout that has not passed, with a new number of microseconds.
updateTimeout :: TimerManager -> TimeoutKey -> Int -> IO ()
updateTimeout _ (TimeoutKey timer) us = void (Event.reschedule timer (microseconds us))

-- | Cancels a timeout.
unregisterTimeout :: TimerManager -> TimeoutKey -> IO ()
unregisterTimeout _ (TimeoutKey timer) = void (Event.cancelTimer timer)
