-- |
-- Module      : Capstan.Event
-- Description : Descriptors and timers, by the hundred thousand
-- Stability   : experimental
--
-- An event manager watches descriptors, keeps timers and accepts posted actions. It delivers events
-- to a Haskell action, an 'Control.Concurrent.MVar.MVar', an 'STM' transaction, a C function or an
-- OpenMP task. Every Capability has a manager of its own, driven by a thread of that Capability:
--
-- > manager <- systemManager
-- > watch <- register manager fd readable Persistent Level (Run serve)
-- > timer <- startTimer manager (seconds 30) (Run (const (void (unregister watch))))
--
-- Every function here may be called from any thread, and throws an 'IOError' where its description
-- says so. Registering a descriptor or changing its events costs a system call (about 0.3 us).
-- Timers and posts need no system call, unless the manager sleeps and must wake earlier.
--
-- A thread that only wants to wait has simpler calls:
--
-- > ready <- awaitFd fd readable
-- > sleep (milliseconds 5)
--
-- A program may also drive a manager itself, with 'loop' or 'step'.
--
-- == Promises
--
-- 1. A manager reports no event that has not happened, and loses none. A 'OneShot' registration or
--    a one-time timer ends in exactly one of two ways: its action runs, or 'unregister'
--    ('cancelTimer') returns 'True'.
-- 2. An action may end a registration or a timer of its own manager. The action of that
--    registration or timer does not run any more, even if it was already due.
-- 3. An exception in an action goes to the manager's handler and disturbs no other action.
-- 4. A timer costs the same whatever the number of timers. Timers fire in the order of their ticks
--    of 66 us, never early, and do not drift.
-- 5. An idle manager uses no processor time.
--
-- == Cautions
--
-- Actions run on the manager's thread, one after another, so an action that blocks delays all
-- others. Instead, fork a thread, or fill an 'Control.Concurrent.MVar.MVar' that a thread waits
-- for. If the actions of one turn take longer than 500 ms, 'statSlow' counts the turn. The first
-- such turn also writes a line to standard error. The line comes when the actions have returned, or
-- after 5 s, when another thread uses the manager.
--
-- An asynchronous exception may reach the thread that drives a manager (@killThread@ or @timeout@
-- around 'loop' or 'step'). It ends the running action, unless that action has masked exceptions,
-- and the action is not run again. Later actions that are due run when the manager is driven again.
--
-- Unregister a descriptor before you close it, or close it with 'closeFd'. A descriptor that is
-- closed while it is registered has no more events. When its number is registered again, the old
-- registrations get the event 'closed'.
--
-- The managers of the Capabilities need the threaded RTS. In the child of a @forkProcess@ they
-- start empty.
--
-- @since 0.1.0
module Capstan.Event
  ( -- * Managers
    Manager,
    systemManager,
    withManager,
    newManager,
    freeManager,
    loop,
    step,
    shutdown,
    setExceptionHandler,
    ManagerStatistics (..),
    managerStatistics,

    -- * Where it is delivered
    Target (..),
    Callback,
    EventHandle (..),

    -- * Descriptors
    Events,
    readable,
    writable,
    hangUp,
    failed,
    closed,
    intersects,
    Ready (..),
    Lifetime (..),
    Trigger (..),
    Watch,
    watchFd,
    register,
    change,
    unregister,
    closeFd,
    closeFdWith,

    -- * Timers
    Duration,
    nanoseconds,
    microseconds,
    milliseconds,
    seconds,
    unlimited,
    since,
    toNanoseconds,
    clock,
    Expiry (..),
    Timer,
    startTimer,
    startTimerAt,
    startPeriodic,
    reschedule,
    cancelTimer,

    -- * Posts
    post,
    postTo,

    -- * Waiting
    awaitFd,
    awaitFdSTM,
    sleep,
    timerVar,
  )
where

import Capstan.Duration
import Capstan.Event.Internal
import Control.Concurrent.MVar (newEmptyMVar, takeMVar)
import Control.Exception (mask, mask_, onException)
import Control.Monad (void)
import Foreign.C.Error (throwErrnoIfMinus1_)
import GHC.Conc (STM, TVar, newTVarIO, readTVar, retry, writeTVar)
import System.Posix.Internals (c_close)
import System.Posix.Types (Fd (..))

-- | Ends all registrations of a descriptor with every manager, delivers the event 'closed' to each,
-- and closes the descriptor. A registration that another thread makes meanwhile also gets 'closed',
-- or it throws because the descriptor is closed. Throws if the descriptor is not open.
--
-- > closeFd fd
closeFd :: Fd -> IO ()
closeFd = closeFdWith (\(Fd fd) -> throwErrnoIfMinus1_ "Capstan.Event.closeFd" (c_close fd))

-- | As 'closeFd', but an action closes the descriptor.
--
-- > closeFdWith (const (pure ())) fd -- ends the registrations only
closeFdWith :: (Fd -> IO ()) -> Fd -> IO ()
closeFdWith = closeWith Nothing

-- | Blocks the thread until one of the events happens to the descriptor, or until 'closeFd' closes
-- it. Returns the events that have happened. Can be interrupted. Throws as 'register' does.
--
-- > happened <- awaitFd fd (readable <> hangUp)
awaitFd :: Fd -> Events -> IO Events
awaitFd fd events = mask $ \_ -> do
  manager <- systemManager
  result <- newEmptyMVar
  watch <- register manager fd events OneShot Level (Fill result)
  readyEvents <$> takeMVar result `onException` unregister watch

-- | A transaction that retries until one of the events has happened, and an action that ends the
-- registration. Throws as 'register' does.
--
-- > (ready, giveUp) <- awaitFdSTM fd readable
-- > (late, cancelTimer) <- timerVar (seconds 5)
-- > _ <- atomically (void ready `orElse` (readTVar late >>= \fired -> if fired then pure () else retry))
-- > giveUp
-- > cancelTimer
awaitFdSTM :: Fd -> Events -> IO (STM Events, IO ())
awaitFdSTM fd events = mask_ $ do
  manager <- systemManager
  result <- newTVarIO Nothing
  watch <- register manager fd events OneShot Level (Transact (writeTVar result . Just . readyEvents))
  pure (readTVar result >>= maybe retry pure, void (unregister watch))

-- | Blocks the thread for the given time, and at most 66 us longer, plus the kernel's delay. Can be
-- interrupted.
--
-- > sleep (milliseconds 5)
sleep :: Duration -> IO ()
sleep delay = mask $ \_ -> do
  manager <- systemManager
  result <- newEmptyMVar
  timer <- startTimer manager delay (Fill result)
  void (takeMVar result) `onException` cancelTimer timer

-- | A variable that becomes 'True' after the given time, and an action that cancels this.
timerVar :: Duration -> IO (TVar Bool, IO ())
timerVar delay = mask_ $ do
  manager <- systemManager
  result <- newTVarIO False
  timer <- startTimer manager delay (Transact (const (writeTVar result True)))
  pure (result, void (cancelTimer timer))
