-- |
-- Module      : Capstan.Event
-- Description : Descriptors and timers, by the hundred thousand
-- Stability   : experimental
--
-- An event manager watches descriptors, keeps timers and accepts posted actions, and delivers what
-- happens to a Haskell action, an 'Control.Concurrent.MVar.MVar', an 'STM' transaction, a C function or an OpenMP task.
-- Every Capability has a manager of its own, driven by a thread of that Capability:
--
-- > manager <- systemManager
-- > watch <- register manager fd readable Persistent Level (Run serve)
-- > timer <- startTimer manager (seconds 30) (Run (const (void (unregister watch))))
--
-- Every function here may be called from any thread, and throws an 'IOError' where it says so.
-- Registering and changing cost a system call (about 0.3 us) each; timers and posts none, unless the
-- manager sleeps and must wake earlier.
--
-- A thread that only wants to wait has simpler calls:
--
-- > ready <- awaitFd fd readable
-- > sleep (milliseconds 5)
--
-- A program may also drive a manager by itself, by 'loop' or 'step'.
--
-- == Promises
--
-- 1. Nothing is reported that was not so, nothing is lost, and a 'OneShot' registration or a
--    one-time timer ends in exactly one of two ways: its action runs, or 'unregister' ('cancelTimer')
--    returns 'True'.
-- 2. What an action ends on its own manager does not run any more, even if it was already due.
-- 3. An exception in an action goes to the manager's handler and disturbs no other action.
-- 4. Timers cost the same at any number, fire in the order of their ticks of 66 us, never early, and
--    do not drift.
-- 5. An idle manager uses no processor time.
--
-- == Cautions
--
-- Actions run on the manager's thread, one after another: one that blocks holds up all others. Fork
-- a thread, or fill an 'Control.Concurrent.MVar.MVar' that a thread waits for. If the actions of one turn take longer than 500 ms,
-- 'statSlow' counts it, and the first time a line on standard error says so: when they have returned,
-- or, after 5 s, when another thread registers, starts or posts something on that manager.
--
-- An asynchronous exception for the thread that drives a manager (@killThread@ or @timeout@ around 'loop'
-- or 'step') ends the action in which it comes, if that has not masked exceptions, and the action is not
-- run again. Those that are due after it run when the manager is driven again.
--
-- Unregister a descriptor before you close it, or close it with 'closeFd'. One that is closed while
-- it is registered is reported no more, and when its number is registered again, the old
-- registrations are told 'closed'.
--
-- The managers of the Capabilities need the threaded RTS. After @forkProcess@ the child's start
-- empty.
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

-- | Ends all registrations of a descriptor, with every manager, tells each 'closed', and closes it.
-- A registration that comes meanwhile is told so as well, or throws as one of a closed descriptor does.
-- Throws if the descriptor is not open.
--
-- > closeFd fd
closeFd :: Fd -> IO ()
closeFd = closeFdWith (\(Fd fd) -> throwErrnoIfMinus1_ "Capstan.Event.closeFd" (c_close fd))

-- | The same, with another way to close.
--
-- > closeFdWith (const (pure ())) fd -- ends the registrations only
closeFdWith :: (Fd -> IO ()) -> Fd -> IO ()
closeFdWith = closeWith Nothing

-- | Blocks the thread until one of the events happens to the descriptor, or it is closed by
-- 'closeFd'; returns what has happened. Can be interrupted. Throws as 'register' does.
--
-- > happened <- awaitFd fd (readable <> hangUp)
awaitFd :: Fd -> Events -> IO Events
awaitFd fd events = mask $ \_ -> do
  manager <- systemManager
  result <- newEmptyMVar
  watch <- register manager fd events OneShot Level (Fill result)
  readyEvents <$> takeMVar result `onException` unregister watch

-- | A transaction that retries until one of the events has happened, and an action that gives the
-- waiting up. Throws as 'register' does.
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

-- | Blocks the thread for so long, and at most 66 us longer, plus what the kernel takes. Can be
-- interrupted.
--
-- > sleep (milliseconds 5)
sleep :: Duration -> IO ()
sleep delay = mask $ \_ -> do
  manager <- systemManager
  result <- newEmptyMVar
  timer <- startTimer manager delay (Fill result)
  void (takeMVar result) `onException` cancelTimer timer

-- | A variable that becomes 'True' after so long, and an action that cancels that.
timerVar :: Duration -> IO (TVar Bool, IO ())
timerVar delay = mask_ $ do
  manager <- systemManager
  result <- newTVarIO False
  timer <- startTimer manager delay (Transact (const (writeTVar result True)))
  pure (result, void (cancelTimer timer))
