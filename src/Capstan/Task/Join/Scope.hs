{-# LANGUAGE ExistentialQuantification #-}

-- |
-- Module      : Capstan.Task.Join.Scope
-- Description : Scopes and promises: async, await, failure and cancellation
--
-- A scope fails once, with the first exception of its body or of a task; but that of one who is blocked for ever gives way
-- to another ("Capstan.Task.Work.Group"). Then
--
-- * tasks that have not begun end with that exception as their result, without running, and no worker begins
--   a branch of a fork in the scope;
-- * workers that run tasks of the scope, and the body, are interrupted ("Capstan.Task.Work.Cell"), with all
--   scopes and branches that are inside; these form groups ("Capstan.Task.Work.Group");
-- * 'async' in the scope throws the exception.
--
-- A scope that ends well fails after that, so that nothing is started in it any more.
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
    await,
    awaitCatch,
    awaitWithin,
    poll,
    defaultPool,
    withPool,
    lookupPool,
  )
where

import Capstan.Duration (Duration, toMicroseconds, unlimited)
import Capstan.Exception.Internal
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
import Control.Concurrent (killThread, myThreadId, threadDelay)
import Control.Concurrent.MVar
import Control.DeepSeq (NFData, force)
import Control.Exception
import Control.Monad (guard, unless, void, when)
import Data.IORef
import Data.List (find)
import System.IO.Unsafe (unsafePerformIO)
import System.Timeout (timeout)

-- | What 'cancel' makes of a scope, and of the tasks in it. An asynchronous exception: 'SomeAsyncException' is above it, and
-- 'Capstan.Exception.CapstanException'.
data Cancelled = Cancelled
  deriving (Eq, Ord, Show)

instance Exception Cancelled where
  toException = asyncCapstanToException
  fromException = capstanFromException

-- | What 'async' throws in a scope that is over: nothing would wait for the task.
data ScopeEnded = ScopeEnded
  deriving (Eq, Ord, Show)

instance Exception ScopeEnded where
  toException = capstanToException
  fromException = capstanFromException

-- | What 'runOn' throws for a pool that is over, whose name it has: nobody would run the tasks.
newtype PoolEnded = PoolEnded String
  deriving (Eq, Ord)

instance Show PoolEnded where
  showsPrec _ (PoolEnded name) = showString ("Capstan.Task.runOn: the pool " ++ show name ++ " is over; it ends with withPool")

instance Exception PoolEnded where
  toException = capstanToException
  fromException = capstanFromException

-- | Where tasks live: none outlives its scope. May be used by any thread while the scope is open.
data Scope = Scope !Pool !Home

instance Eq Scope where
  Scope _ one == Scope _ other = group one == group other

-- | The result of a task, now or later.
--
-- Two are equal if they are of the same task. What 'fmap' makes of a result is computed by each who awaits it.
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

-- | Opens a scope, runs the body, and waits for all tasks of the scope. If the body or a task throws,
-- all others are cancelled, and when they have ended, the first exception is thrown again. That somebody is blocked for ever
-- ('BlockedIndefinitelyOnMVar' and its like) is thrown only if nothing else was: it may have come of the others' failure.
--
-- An asynchronous exception to the caller reaches the whole scope in the same way.
run :: (Scope -> IO a) -> IO a
run = runOn defaultPool

-- | As 'run', on the workers of a pool. Throws 'PoolEnded' if the pool's 'withPool' is over: nobody would run the tasks.
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
    home <- Home <$> newCounters (Deque.capacity (deques workers)) <*> pure members <*> newEmptyMVar <*> myThreadId
    bodyCell <- Cell.newCell (Cell.Open Cell.Pending [])
    place <- placeHere
    _ <- Cell.begin (target place) (pure ()) bodyCell
    -- Who has masked exceptions has protected the scope from the failure of what is around it.
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
    -- What was thrown to the caller goes before what failed: nobody would throw it again.
    maybe (either throwIO pure outcome) throwIO (later <|> (failed >>= \e -> cause <|> Just e))
  where
    stopInside (Outside _) _ = pure ()
    stopInside (Inside _ _ reason) members = void (doom members reason)

-- | Waits until all tasks have ended. An exception meanwhile makes the scope fail, and is the result, if
-- none was thrown before; then exceptions wait.
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

-- | As 'run', for at most so long; then the scope is cancelled, and when its tasks have ended the result is 'Nothing'. Without any time
-- the body does not begin. 'unlimited' is no limit.
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
        -- Whatever mask the caller has: who is done before the time does not wait for it.
        limited _ = run (\scope -> putMVar opened scope >> body scope)
    result <- tryJust (guard . (== expired)) (bracket (forkMasked timer) (uninterruptibleMask_ . killThread) limited)
    pure (either (const Nothing) Just result)

-- | What the end of its time makes of a scope: the scope knows its own.
newtype Expired = Expired (MVar Scope)
  deriving (Eq)

instance Show Expired where
  show _ = "the time of the scope is over"

instance Exception Expired where
  toException = asyncExceptionToException
  fromException = asyncExceptionFromException

-- | Cancels what runs in the scope and what would start there; 'run' throws 'Cancelled'.
cancel :: Scope -> IO ()
cancel scope = failWith scope (toException Cancelled)

-- | As 'cancel', with an exception that 'run' throws.
cancelWith :: Scope -> SomeException -> IO ()
cancelWith = failWith

-- | Opens a scope on the workers of another one.
runIn :: Scope -> (Scope -> IO a) -> IO a
runIn (Scope workers _) = runOn workers

-- | Makes the scope fail, unless it has.
failWith :: Scope -> SomeException -> IO ()
failWith (Scope _ home) = failHome home

-- | Starts a task. Its result is evaluated to weak head normal form by the task. If it throws, its scope fails with that exception; where a
-- failure is expected, @async scope (try action)@ brings it to 'await' only.
--
-- The task runs unmasked, on any Capability; it may block, open scopes and start tasks. In a scope that has failed
-- 'async' throws what that failed with, in one that is over 'ScopeEnded'. Costs some tens of nanoseconds and under 100 bytes.
--
-- > run $ \scope -> do
-- >   index <- async scope (buildIndex files)
-- >   settings <- readSettings
-- >   serve settings =<< await index
async :: Scope -> IO a -> IO (Promise a)
async (Scope workers home) action = do
  failed <- fate (group home)
  case failed of
    Just e -> throwIO e
    Nothing -> do
      cell <- Cell.newCell (Cell.Task home (action >>= evaluate))
      spawn workers (counters home) cell
      pure (Promise workers cell)

-- | As 'async', with a result that the task evaluates completely.
--
-- > words <- asyncNF scope (Text.words <$> Text.readFile file)
asyncNF :: NFData a => Scope -> IO a -> IO (Promise a)
asyncNF scope action = async scope (force <$> action)

-- | The result of a task. Throws what the task threw. May be called by any thread, also after the task's scope.
--
-- If nobody has begun the task, the caller is of its scope, and nothing in the caller would catch an exception, the caller runs it, which
-- costs a few function calls. Else the caller's green thread waits, its Capability goes on with other tasks, and if need be the task gets a
-- thread of its own, which costs a microsecond; or ten, where the caller is the program's main thread, or bound otherwise.
--
-- An asynchronous exception to the caller ends the wait. It ends the task only where it ends the scope: what comes from a
-- 'System.Timeout.timeout' around 'await', from another branch of 'Capstan.Task.both', or to a caller with a handler of any kind, leaves the task
-- alone.
--
-- Where tasks await each other in a circle, GHC's next large collection finds that out, and 'run' throws 'BlockedIndefinitelyOnMVar'.
--
-- > run (\scope -> async scope (pure 6) >>= \six -> (* 7) <$> await six)
await :: Promise a -> IO a
await promise = awaitCatch promise >>= either throwIO pure

-- | As 'await', with what the task threw as a result. A task that throws makes its scope fail all the same, and that interrupts who is of the
-- scope: this is for others. An asynchronous exception to the caller is thrown as ever.
--
-- > outcome <- awaitCatch promise
-- > either (putStrLn . displayException) print outcome
awaitCatch :: Promise a -> IO (Either SomeException a)
awaitCatch (Mapped f promise) = fmap f <$> awaitCatch promise
awaitCatch (Promise workers cell) = do
  masking <- getMaskingState
  case masking of
    -- Masked from the pop on: an entry that was popped and not claimed would be nobody's.
    Unmasked -> mask_ $ do
      mine <- Deque.pop (deques workers) cell
      unless mine switchPoint
      runAwaited (deques workers) cell
    _ -> pure ()
  now <- Cell.poll cell
  maybe (expect workers cell) pure now

-- | As 'await', for at most so long; then the result is 'Nothing', and the task goes on. 'unlimited' is no limit. The caller never runs
-- the task itself.
--
-- > awaitWithin (milliseconds 1) promise >>= maybe (putStrLn "still at it" >> await promise) pure
awaitWithin :: Duration -> Promise a -> IO (Maybe a)
awaitWithin limit promise = poll promise >>= maybe (timeout atMost (await promise)) (either throwIO (pure . Just))
  where
    atMost = if limit == unlimited then -1 else toMicroseconds limit

-- | The result, or what the task threw, if the task has ended. Never waits.
poll :: Promise a -> IO (Maybe (Either SomeException a))
poll (Promise _ cell) = Cell.poll cell
poll (Mapped f promise) = fmap (fmap f) <$> poll promise

-- | The pool of all Capabilities. It exists from the first use on; new Capabilities get workers with the next use.
defaultPool :: Pool
defaultPool = unsafePerformIO $ do
  workers <- newPool "" 0
  workers <$ serveCapabilities workers
{-# NOINLINE defaultPool #-}

named :: IORef [Pool]
named = unsafePerformIO (newIORef [])
{-# NOINLINE named #-}

-- | A pool of so many workers (at least one), for the time of the action. The workers have the
-- Capabilities in common with all others; they run the tasks of this pool only. The action must not return while a scope on
-- the pool is open. Later loops on it run in their caller alone.
withPool :: String -> Int -> (Pool -> IO a) -> IO a
withPool name size = bracket open close
  where
    open = do
      workers <- newPool name (max 1 size)
      serveCapabilities workers
      atomicModifyIORef' named (\pools -> (workers : pools, workers))
    close workers = do
      atomicModifyIORef' named (\pools -> (filter ((/= ended workers) . ended) pools, ()))
      endPool workers

-- | The pool of that name, if 'withPool' has one open.
lookupPool :: String -> IO (Maybe Pool)
lookupPool name = find ((== name) . poolName) <$> readIORef named
