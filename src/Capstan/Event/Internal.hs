-- |
-- Module      : Capstan.Event.Internal
-- Description : Registrations, timers and posts of "Capstan.Event"
--
-- Managers are in "Capstan.Event.Manager".
module Capstan.Event.Internal
  ( module Capstan.Event.Types,
    module Capstan.Event.Manager,

    -- * Descriptors
    Lifetime (..),
    Trigger (..),
    Watch (..),
    register,
    registerKnowing,
    change,
    unregister,
    closeWith,

    -- * Timers
    Timer (..),
    startTimer,
    startTimerAt,
    startPeriodic,
    reschedule,
    cancelTimer,

    -- * Posts
    post,
    postTo,
  )
where

import Capstan.Duration (Duration, nanoseconds, toNanoseconds)
import Capstan.Event.Foreign
import Capstan.Event.Manager
import Capstan.Event.Types
import Capstan.Event.Words
import Control.Exception (finally, mask_)
import Control.Monad (when)
import Data.Bits ((.|.))
import Data.Word (Word32, Word64)
import Foreign.C.Error (Errno (..), eNOENT)
import Foreign.Ptr (nullFunPtr, nullPtr)
import System.Posix.Types (Fd (..))

-- * Descriptors

-- | How long a registration lasts.
data Lifetime
  = -- | Until an event has happened once.
    OneShot
  | -- | Until it is unregistered or the descriptor is closed.
    Persistent
  deriving (Eq, Show)

-- | When a persistent registration gets events.
data Trigger
  = -- | Again and again while the descriptor is ready.
    Level
  | -- | When readiness begins or more arrives. Not with the @poll@ back end.
    Edge
  deriving (Eq, Show)

-- | A registration of a descriptor.
data Watch = Watch
  { watchManager :: !Manager,
    watchIdent :: !Word64,
    watchFd :: !Fd,
    watchState :: !State
  }

instance Eq Watch where
  a == b = watchManager a == watchManager b && watchIdent a == watchIdent b

instance Show Watch where
  showsPrec d watch = showParen (d > 10) (showString "Watch " . showsPrec 11 (watchFd watch))

-- | The state is 1 until the registration or timer has fired for the last time or was ended. The C
-- manager no longer controls the records of a batch, so this word decides which of the two happens.
type State = Words

newState :: IO State
newState = newWords 1 1

isLive :: State -> IO Bool
isLive state = (== 1) <$> readWord state 0

-- | Claims the end of a registration or timer. Returns 'True' to exactly one caller.
claim :: State -> IO Bool
claim state = casWord state 0 1 0

-- | Watches a descriptor for 'readable', 'writable', 'hangUp' or several. All registrations of one
-- descriptor must have the same 'Trigger'. Throws an 'IOError' if the descriptor is not open or
-- the manager was shut down.
--
-- > watch <- register manager fd readable Persistent Level (Run serve)
register :: Manager -> Fd -> Events -> Lifetime -> Trigger -> Target Ready -> IO Watch
register manager fd events lifetime trigger target =
  registerWith manager fd events lifetime trigger $ \state ->
    Handler $ \record -> do
      happened <- recordEvents record
      live <- stillLive state lifetime happened
      when live $ case target of
        Call function context -> do
          ident <- recordIdent record
          let Fd number = fd
              Events bits = happened
          withHandle manager $ \raw ->
            callFdFunction function raw ident number (fromIntegral bits) context
        _ -> deliver target (Ready fd happened)

-- | As 'register', for an action that gets its own registration.
registerKnowing ::
  Manager -> Fd -> Events -> Lifetime -> Trigger -> (Watch -> Events -> IO ()) -> IO Watch
registerKnowing manager fd events lifetime trigger action =
  registerWith manager fd events lifetime trigger $ \state ->
    Handler $ \record -> do
      ident <- recordIdent record
      happened <- recordEvents record
      live <- stillLive state lifetime happened
      when live (action (Watch manager ident fd state) happened)

stillLive :: State -> Lifetime -> Events -> IO Bool
stillLive state lifetime happened
  | lifetime == OneShot || happened `intersects` closed = claim state
  | otherwise = isLive state

registerWith ::
  Manager ->
  Fd ->
  Events ->
  Lifetime ->
  Trigger ->
  (State -> Handler) ->
  IO Watch
registerWith manager fd wanted@(Events events) lifetime trigger handler = mask_ $ do
  state <- newState
  ident <- withHandler manager (handler state) $ \context ->
    withHandle manager $ \raw ->
      named registering =<< c_fd_register raw (fromIntegral fd) (fromIntegral mode) context
  pure (Watch manager ident fd state)
  where
    registering = "register: descriptor " ++ show fd ++ ", " ++ show wanted ++ ", " ++ show trigger
    mode = events .|. flag 256 (lifetime == OneShot) .|. flag 512 (trigger == Edge)
    flag bit on = if on then bit else 0 :: Word32

-- | Changes the events of a registration; with 'mempty' it watches for none until the next change.
-- Returns 'False' if the registration has ended.
--
-- > watch <- register manager fd readable Persistent Level (Run serve)
-- > ok <- change watch (readable <> writable)
change :: Watch -> Events -> IO Bool
change watch (Events events) = withHandle (watchManager watch) $ \raw -> do
  code <- c_fd_change raw (watchIdent watch) (fromIntegral events)
  if Errno code == eNOENT then pure False else True <$ check "change" code

-- | Ends a registration. Returns 'True' if this call ended it: then its action does not begin any
-- more. Returns 'False' if it had ended before: then the action of a 'OneShot' has begun. The
-- action of a persistent registration may still be running on the manager's thread.
--
-- > watch <- register manager fd readable OneShot Level (Run serve)
-- > ended <- unregister watch
unregister :: Watch -> IO Bool
unregister watch = do
  code <- withHandle (watchManager watch) $ \raw -> c_fd_unregister raw (watchIdent watch)
  live <- claim (watchState watch)
  pure (live || code == 0)

-- | Ends all registrations of a descriptor, with all managers or one, delivers 'closed' to each,
-- and closes the descriptor. A registration that another thread makes before the close gets
-- 'closed' after it, for C then looks for registrations whose file is gone. A registration of a new
-- file with the same number does not.
closeWith :: Maybe Manager -> (Fd -> IO ()) -> Fd -> IO ()
closeWith manager close fd@(Fd number) = mask_ $ do
  with (`c_fd_unregister_all` number)
  close fd `finally` with (`c_fd_closed` number)
  where
    with act = maybe (act nullPtr) (`withHandle` act) manager

-- * Timers

-- | A timer that was started.
data Timer = Timer
  { timerManager :: !Manager,
    timerIdent :: !Word64,
    timerState :: !State
  }

instance Eq Timer where
  a == b = timerManager a == timerManager b && timerIdent a == timerIdent b

instance Show Timer where
  showsPrec d timer = showParen (d > 10) (showString "Timer " . showsPrec 11 (timerIdent timer))

-- | Starts a timer that fires once, after a delay. It never fires early. It is late by at most 66
-- us, plus the delays of the kernel and of earlier actions.
--
-- > timer <- startTimer manager (milliseconds 20) (Run (const (putStrLn "now")))
startTimer :: Manager -> Duration -> Target Expiry -> IO Timer
startTimer manager delay target = do
  time <- clock
  start "startTimer" manager (time <> delay) mempty target

-- | Starts a timer that fires once, at a time of 'clock'.
startTimerAt :: Manager -> Duration -> Target Expiry -> IO Timer
startTimerAt manager deadline = start "startTimerAt" manager deadline mempty

-- | Starts a timer that fires after a delay, and then in every period. Periods count from the first
-- deadline, so there is no drift. All missed periods together give one expiry.
--
-- > timer <- startPeriodic manager mempty (seconds 1) (Run (print . expirations))
startPeriodic :: Manager -> Duration -> Duration -> Target Expiry -> IO Timer
startPeriodic manager delay period target = do
  time <- clock
  start "startPeriodic" manager (time <> delay) (max (nanoseconds 1) period) target

start :: String -> Manager -> Duration -> Duration -> Target Expiry -> IO Timer
start name manager deadline period target = mask_ $ do
  state <- newState
  ident <- withHandler manager (timerHandler manager state (period == mempty) target) $ \context ->
    withHandle manager $ \raw -> named name =<< c_timer_start_at raw (toNanoseconds deadline) (toNanoseconds period) context
  pure (Timer manager ident state)

timerHandler :: Manager -> State -> Bool -> Target Expiry -> Handler
timerHandler manager state once target = Handler $ \record -> do
  count <- recordExpirations record
  live <- if once || count == 0 then claim state else isLive state
  when live $ case target of
    Call function context -> do
      ident <- recordIdent record
      withHandle manager $ \raw -> callTimerFunction function raw ident count context
    _ -> deliver target (Expiry count)

-- | Moves the deadline of a timer to a delay from now; the period of a periodic timer stays.
-- Returns 'False' if the timer has fired or was cancelled. A move to a later time costs one store,
-- so each message may move an idle timeout.
--
-- > timer <- startTimer manager (seconds 30) (Run (const (closeFd fd)))
-- > ok <- reschedule timer (seconds 30)
reschedule :: Timer -> Duration -> IO Bool
reschedule timer delay = withHandle (timerManager timer) $ \raw -> do
  code <- c_timer_reschedule raw (timerIdent timer) (toNanoseconds delay)
  pure (code == 0)

-- | Cancels a timer. Returns 'True' if its action does not begin any more. Returns 'False' if the
-- action has begun, or if the timer was cancelled before.
--
-- > timer <- startTimer manager (seconds 30) (Run (const (closeFd fd)))
-- > cancelled <- cancelTimer timer
cancelTimer :: Timer -> IO Bool
cancelTimer timer = do
  code <- withHandle (timerManager timer) $ \raw -> c_timer_cancel raw (timerIdent timer)
  live <- claim (timerState timer)
  pure (live || code == 0)

-- * Posts

-- | Runs the action on the manager's thread, in the order of posting. Throws after 'shutdown'.
--
-- > post manager (putStrLn "on the manager's thread")
post :: Manager -> IO () -> IO ()
post manager action = postTo manager (Run (const action))

-- | As 'post', with any target. Throws after 'shutdown'.
--
-- > done <- newEmptyMVar
-- > postTo manager (Fill done)
-- > takeMVar done
postTo :: Manager -> Target () -> IO ()
postTo manager target = mask_ $
  withHandler manager (Handler (const run)) $ \context ->
    withHandle manager $ \raw -> check "post" =<< c_post raw nullFunPtr context
  where
    run = case target of
      Call function context -> withHandle manager $ \raw -> callPostFunction function raw context
      _ -> deliver target ()
