{-# LANGUAGE ExistentialQuantification #-}

-- |
-- Module      : Capstan.Task.Join.Scope
-- Description : Scopes and promises: async, await, failure and cancellation
--
-- A scope fails once, with the first exception of its body or of a task. But if that exception only
-- says that a thread is blocked for ever, a later exception replaces it
-- ("Capstan.Task.Work.Group"). The failure of a scope has these effects:
--
-- * Tasks that have not begun end with that exception as their result, without running.
-- * No worker begins a branch of 'Capstan.Task.both' in the scope.
-- * Workers and the body are interrupted ("Capstan.Task.Work.Cell"), with all scopes and branches
--   inside the scope, which form groups ("Capstan.Task.Work.Group").
-- * 'async' in the scope throws the exception.
--
-- A scope that ends without an exception fails afterwards, so that no task starts in it any more.
module Capstan.Task.Join.Scope
  ( Scope,
    Cancelled (..),
    ScopeEnded (..),
    PoolEnded (..),
    Promise (..),
    run,
    runOn,
    runWithin,
    cancel,
    cancelWith,
    runIn,
    async,
    asyncNF,
    startIfOpen,
    await,
    awaitCatch,
    poll,
    beginTask,
    promiseIn,
    defaultPool,
    withPool,
    lookupPool,
  )
where

import Capstan.Duration (Duration, toMicroseconds, unlimited)
import Capstan.Exception
import Capstan.Task.Pool
import Capstan.Task.Pool.Wait (expect)
import Capstan.Task.Thread.Seeded (switchPoint)
import Capstan.Task.Thread.Target (forkMasked)
import Capstan.Task.Work.Border
import Capstan.Task.Work.Cell (Home (..))
import qualified Capstan.Task.Work.Cell as Cell
import Capstan.Task.Work.Counters
import qualified Capstan.Task.Work.Deque as Deque
import Capstan.Task.Work.Group
import Capstan.Task.Work.Run
import Control.Applicative ((<|>))
import Control.Concurrent (getNumCapabilities, killThread, myThreadId, threadDelay)
import Control.Concurrent.MVar
import Control.DeepSeq (NFData, force)
import Control.Exception
import Control.Monad (guard, unless, void, when)
import Data.IORef
import Data.List (find)
import GHC.Stack (HasCallStack)
import System.IO.Unsafe (unsafePerformIO)

-- | The exception with which 'cancel' ends a scope and its tasks. It is an asynchronous exception:
-- handlers for 'SomeAsyncException' and for 'Capstan.Exception.CapstanException' catch it.
data Cancelled = Cancelled
  deriving (Eq, Ord, Show)

instance Exception Cancelled where
  toException = asyncCapstanToException
  fromException = capstanFromException

-- | 'async' throws this if its scope has ended, because no code would wait for the task.
data ScopeEnded = ScopeEnded
  deriving (Eq, Ord, Show)

instance Exception ScopeEnded where
  toException = capstanToException
  fromException = capstanFromException

-- | 'runOn' throws this if its pool is closed, because no worker would run the tasks. It has the
-- name of the pool.
newtype PoolEnded = PoolEnded String
  deriving (Eq, Ord)

instance Show PoolEnded where
  showsPrec _ (PoolEnded name) = showString ("Capstan.Task.runOn: the pool " ++ show name ++ " is closed: its withPool block has returned")

instance Exception PoolEnded where
  toException = capstanToException
  fromException = capstanFromException

-- | A scope of tasks: no task outlives its scope. Any thread may use a scope while it is open.
data Scope = Scope !Pool !Home

instance Eq Scope where
  Scope _ one == Scope _ other = group one == group other

-- | The result of a task, now or later.
--
-- Two promises are equal if they belong to the same task. Each thread that awaits a promise applies
-- the function of 'fmap' itself.
data Promise a
  = Promise !Pool !(Cell.Cell a)
  | forall x. Mapped (x -> a) !(Promise x)

instance Functor Promise where
  fmap = Mapped

instance Eq (Promise a) where
  (==) = sameTask

sameTask :: Promise a -> Promise b -> Bool
sameTask (Mapped _ one) other = sameTask one other
sameTask one (Mapped _ other) = sameTask one other
sameTask (Promise _ one) (Promise _ other) = Cell.sameCell one other

-- | Opens a scope, runs the body, and waits for all tasks of the scope. If the body or a task
-- throws, all others are cancelled, and 'run' throws the first exception again when they have
-- ended. 'BlockedIndefinitelyOnMVar' and similar exceptions are thrown only if there was no other
-- exception, because the failure of another task may have caused them.
--
-- An asynchronous exception to the caller reaches the whole scope in the same way.
run :: (Scope -> IO a) -> IO a
run = runOn defaultPool

-- | As 'run', on the workers of a pool. Throws 'PoolEnded' if the pool's 'withPool' has returned,
-- because no worker would run the tasks.
--
-- > withPool "disk" 4 $ \pool -> runOn pool (\scope -> mapM (async scope . readFile) files >>= mapM await)
runOn :: Pool -> (Scope -> IO a) -> IO a
runOn workers body = do
  closed <- readIORef (ended workers)
  when closed (throwIO (PoolEnded (poolName workers)))
  serveCapabilities workers
  masking <- getMaskingState
  mask $ \restore -> do
    members <- newGroup
    home <- Home <$> (getNumCapabilities >>= newCounters) <*> pure members <*> newEmptyMVar <*> myThreadId
    bodyCell <- Cell.newCell (Cell.Open Cell.Pending [])
    place <- placeHere
    _ <- Cell.begin (target place) (pure ()) bodyCell
    -- A caller that has masked exceptions protects its scope from the failure of enclosing scopes.
    above <- if masking == Unmasked then contextAt place else pure (Outside (target place))
    let scope = Scope workers home
        reason = Cell.interruptOf bodyCell
        inside = Inside (target place) members reason
        over = Cell.isEnded bodyCell
    _ <- enter inside (Member over (Cell.interrupt bodyCell))
    refused <- enter above (Member over (stopInside above members))
    outcome <- maybe (within place inside (try (restore (aboveBorder (body scope))))) (pure . Left) refused
    Cell.finish bodyCell (Cell.Done ())
    let thrown = case outcome of
          Left e | Just (SomeAsyncException _) <- fromException e, not (own e) -> Just e
          _ -> Nothing
        own = Cell.isInterrupt bodyCell
    case outcome of
      Left e | not (own e) -> failWith scope e
      _ -> pure ()
    later <- waitAll scope thrown
    failed <- fate members
    cause <- stopped above
    _ <- doom members (toException ScopeEnded)
    -- An exception that was thrown to the caller takes precedence over a failure, because it would
    -- be lost otherwise.
    maybe (either throwIO pure outcome) throwIO (later <|> (failed >>= \e -> cause <|> Just e))
  where
    stopInside (Outside _) _ = pure ()
    stopInside (Inside _ _ reason) members = void (doom members reason)

-- | Waits until all tasks have ended. The first exception to the caller makes the scope fail, and
-- becomes the result. After an exception the wait cannot be interrupted.
waitAll :: Scope -> Maybe SomeException -> IO (Maybe SomeException)
waitAll scope@(Scope workers home) thrown = do
  done <- quiescent (counters home)
  if done then pure thrown else setWaiting (counters home) >> again
  where
    again = do
      done <- quiescent (counters home)
      if done then pure thrown else maybe sleep (const sleepOn) thrown
    sleep = do
      makeWay workers
      woken <- try (Cell.takeSurely (allEnded home))
      case woken of
        Right () -> again
        Left e -> failWith scope e >> waitAll scope (Just e)
    sleepOn = makeWay workers >> uninterruptibleMask_ (Cell.takeSurely (allEnded home)) >> again

-- | As 'run', with a limit of time. When the time is over, the scope is cancelled, and the result
-- is 'Nothing' when its tasks have ended. If the limit is no time, the body does not begin.
-- 'unlimited' is no limit. GHC does not find a thread of the scope to be blocked for ever before the
-- time is over, as with 'System.Timeout.timeout'.
--
-- > answer <- runWithin (seconds 2) (\scope -> mapM (async scope . ask) servers >>= awaitAll)
runWithin :: Duration -> (Scope -> IO a) -> IO (Maybe a)
runWithin limit body
  | limit == unlimited = Just <$> run body
  | limit == mempty = pure Nothing
  | otherwise = do
    opened <- newEmptyMVar
    let expired = Expired opened
        timer = do
          threadDelay (toMicroseconds limit)
          scope <- readMVar opened
          failWith scope (toException expired)
        -- The timer is unmasked whatever the caller's masking state, so a body that ends early does
        -- not wait for it.
        limited _ = run (\scope -> putMVar opened scope >> body scope)
    result <- tryJust (guard . (== expired)) (bracket (forkMasked timer) (uninterruptibleMask_ . killThread) limited)
    pure (either (const Nothing) Just result)

-- | The exception of a scope whose time is over. It identifies its scope.
newtype Expired = Expired (MVar Scope)
  deriving (Eq)

instance Show Expired where
  show _ = "the time of the scope is over"

instance Exception Expired where
  toException = asyncExceptionToException
  fromException = asyncExceptionFromException

-- | Cancels all tasks of the scope, and keeps new tasks from starting. 'run' throws 'Cancelled'.
cancel :: Scope -> IO ()
cancel scope = failWith scope (toException Cancelled)

-- | As 'cancel', with the exception that 'run' is to throw.
cancelWith :: Scope -> SomeException -> IO ()
cancelWith = failWith

-- | Opens a scope on the workers of another scope.
runIn :: Scope -> (Scope -> IO a) -> IO a
runIn (Scope workers _) = runOn workers

-- | Makes the scope fail, unless it has failed already.
failWith :: Scope -> SomeException -> IO ()
failWith (Scope _ home) = failHome home

-- | Starts a task. Its result is evaluated to weak head normal form by the task. If the task
-- throws, its scope fails with that exception. If a failure is expected, use @async scope (try
-- action)@: then only 'await' returns the exception.
--
-- The task runs with exceptions unmasked, on any Capability. It may block, open scopes and start
-- tasks. If the scope has failed, 'async' throws the exception of the scope; if it has ended,
-- 'async' throws 'ScopeEnded'. Costs some tens of nanoseconds and less than 100 bytes.
--
-- > run $ \scope -> do
-- >   index <- async scope (buildIndex files)
-- >   settings <- readSettings
-- >   serve settings =<< await index
async :: Scope -> IO a -> IO (Promise a)
async scope@(Scope _ home) action = do
  failed <- fate (group home)
  maybe (start scope action) throwIO failed

start :: Scope -> IO a -> IO (Promise a)
start (Scope workers home) action = do
  cell <- Cell.newCell (Cell.Task home (action >>= evaluate))
  spawn workers (counters home) cell
  pure (Promise workers cell)
{-# INLINE start #-}

-- | Starts a task whose result no thread awaits, unless the scope has failed or ended.
startIfOpen :: Scope -> IO a -> IO ()
startIfOpen scope@(Scope _ home) action = do
  failed <- fate (group home)
  maybe (void (start scope action)) (const (pure ())) failed

-- | As 'async', with a result that the task evaluates completely.
--
-- > words <- asyncNF scope (Text.words <$> Text.readFile file)
asyncNF :: NFData a => Scope -> IO a -> IO (Promise a)
asyncNF scope action = async scope (force <$> action)

-- | The result of a task. Throws the exception of the task, if it threw. Any thread may call this,
-- also after the task's scope has ended.
--
-- The caller runs the task itself if the task has not begun, the caller belongs to the task's
-- scope, and the caller has no exception handler. This costs a few function calls. Otherwise the
-- caller's green thread waits, and its Capability goes on with other tasks. If necessary, the task
-- gets a thread of its own, which costs a microsecond, or ten if the caller is the main thread or
-- another bound thread.
--
-- An asynchronous exception to the caller ends the wait. It ends the task only if it ends the
-- scope. So an exception of a 'System.Timeout.timeout' around 'await', or of another branch of
-- 'Capstan.Task.both', leaves the task alone. The same holds for any exception to a caller with a
-- handler.
--
-- If tasks await each other in a circle, GHC's next major collection notices it, and 'run' throws
-- 'BlockedIndefinitelyOnMVar'.
--
-- > run (\scope -> async scope (pure 6) >>= \six -> (* 7) <$> await six)
await :: Promise a -> IO a
await promise = awaitCatch promise >>= either throwIO pure

-- | As 'await', but returns the exception of the task as a result. A task that throws still makes
-- its scope fail, which interrupts the threads of the scope. So this is for callers outside of the
-- scope. An asynchronous exception to the caller is thrown as usual.
--
-- > outcome <- awaitCatch promise
-- > either (putStrLn . displayException) print outcome
awaitCatch :: Promise a -> IO (Either SomeException a)
awaitCatch (Mapped f promise) = fmap f <$> awaitCatch promise
awaitCatch (Promise workers cell) = do
  beginCell workers cell
  now <- Cell.poll cell
  maybe (expect workers cell) pure now

-- | Runs a task that has not begun, as 'await' does, and does not wait. A caller that has masked
-- exceptions leaves the task to the workers.
beginTask :: Promise a -> IO ()
beginTask (Mapped _ promise) = beginTask promise
beginTask (Promise workers cell) = beginCell workers cell

beginCell :: Pool -> Cell.Cell a -> IO ()
beginCell workers cell = do
  masking <- getMaskingState
  case masking of
    -- Exceptions are masked from the pop on: if the thread popped the entry and did not claim the
    -- task, no thread would run it.
    Unmasked -> mask_ $ do
      mine <- Deque.pop (deques workers) cell
      unless mine switchPoint
      runAwaited (deques workers) cell
    _ -> pure ()
{-# INLINE beginCell #-}

-- | A promise whose result is not that of a task, and the action that gives it the result, once. A
-- thread that awaits the promise leaves its Capability to the tasks of the scope's pool.
promiseIn :: Scope -> IO (Promise a, a -> IO ())
promiseIn (Scope workers _) = do
  cell <- Cell.newCell (Cell.Open Cell.Pending [])
  pure (Promise workers cell, Cell.finish cell . Cell.Done)

-- | The result or the exception of a task, if the task has ended. Never waits.
poll :: Promise a -> IO (Maybe (Either SomeException a))
poll (Promise _ cell) = Cell.poll cell
poll (Mapped f promise) = fmap (fmap f) <$> poll promise

-- | The pool of all Capabilities. The first use makes it, and new Capabilities get workers at the
-- next use.
defaultPool :: Pool
defaultPool = unsafePerformIO $ do
  workers <- newPool "" 0
  workers <$ serveCapabilities workers
{-# NOINLINE defaultPool #-}

named :: IORef [Pool]
named = unsafePerformIO (newIORef [])
{-# NOINLINE named #-}

-- | Runs an action with a pool of the given number of workers (at least one). The workers share the
-- Capabilities with all other pools, but run only tasks of this pool. The action must not return
-- while a scope on the pool is open. A loop on the pool that runs later runs in its caller alone.
--
-- The number bounds the tasks that compute at the same time, not those that have begun. When a task
-- blocks, another worker takes its place. To bound the tasks that hold a resource, use a
-- 'Control.Concurrent.QSem.QSem'.
--
-- 'withPool' returns when the pool's threads have ended, so pools that have ended leave nothing
-- behind. This costs some ten microseconds, or some time slices if other threads compute on the
-- Capabilities of the workers.
--
-- A size above 65536 throws 'InvalidArgument'.
withPool :: HasCallStack => String -> Int -> (Pool -> IO a) -> IO a
withPool name size = bracket open close
  where
    open = do
      when (size > largest) $
        throwInvalid ("Capstan.Task.withPool: the pool " ++ show name ++ " is to have " ++ show size ++ " workers; it may have at most " ++ show largest)
      workers <- newPool name (max 1 size)
      serveCapabilities workers
      atomicModifyIORef' named (\pools -> (workers : pools, workers))
    close workers = do
      atomicModifyIORef' named (\pools -> (filter ((/= ended workers) . ended) pools, ()))
      endPool workers
    largest = 65536

-- | The pool with a name, if a 'withPool' with this name is running. If there are several, it is
-- the pool that was made last: within nested calls this is the inner one.
lookupPool :: String -> IO (Maybe Pool)
lookupPool name = find ((== name) . poolName) <$> readIORef named
