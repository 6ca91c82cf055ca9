-- |
-- Module      : Capstan.Task.Work.Run
-- Description : Runs a claimed task, in a worker or in the thread that awaits it
module Capstan.Task.Work.Run
  ( asWorker,
    runAwaited,
    runElsewhere,
    isWanted,
    failHome,
  )
where

import Capstan.Task.Thread.Seeded (asMember, switchPoint, throwByTurns)
import Capstan.Task.Thread.Target (Self, forkMasked, workDone)
import Capstan.Task.Work.Border
import Capstan.Task.Work.Cell
import Capstan.Task.Work.Counters
import Capstan.Task.Work.Deque (Deques, Entry (..), contextHere, entryOf)
import Capstan.Task.Work.Group
import Capstan.Task.Work.Visit
import Control.Concurrent.MVar (tryPutMVar)
import Control.Exception
import Control.Monad (unless, void, when)
import Control.Monad.Primitive (touch)
import Data.Maybe (fromMaybe, isJust, isNothing)
import GHC.IO (unsafeUnmask)

-- | Whether a worker should claim an entry of a deque. A branch or a value of a doomed group is
-- left to its owner, which claims it if it ever gets there. A task of a scope must end, even if its
-- group is doomed.
isWanted :: Entry -> IO Bool
isWanted (Entry cell context) = do
  status <- look cell
  case status of
    Task _ _ -> pure True
    Branch masking _ -> if masking == Unmasked then isNothing <$> stopped context else pure True
    Spark _ -> isNothing <$> stopped context
    _ -> pure False

-- | Runs an action in the calling thread, which has exceptions masked, as a worker. The action gets
-- the thread's place, and the function by which the worker runs the entries that it takes.
asWorker :: (Place -> (Entry -> IO ()) -> IO a) -> IO a
asWorker action = workerPlace $ \place self -> do
  visits <- newVisits
  x <- action place (runEntry visits place self)
  x <$ leave visits

-- | Claims a task that a worker took from a deque, and runs it. Exceptions that arrive outside of
-- the task are dropped, as they concern no task any more.
runEntry :: Visits -> Place -> Self -> Entry -> IO ()
runEntry visits place self entry@(Entry cell context) = (>> workDone self) . quench $ do
  wanted <- isWanted entry
  status <- if wanted then claim cell else look cell
  case status of
    _ | not wanted -> pure ()
    Task home action -> do
      outcome <- during visits place (group home) action
      case outcome of
        Returned x -> end home cell (Done x)
        Stopped e -> end home cell (Failed e)
        Threw e -> failHome home e >> end home cell (Failed e)
    Branch masking right -> do
      leave visits
      branch <- newGroup
      (reason, member) <- memberOf thread self cell
      let listens = masking == Unmasked
          above = if listens then context else Outside thread
      refused <- enter above member
      outcome <- attempt refused (Inside thread branch reason) (void (doom branch reason)) (asOwner masking (right >>= evaluate))
      case outcome of
        Right x -> finish cell (Done x)
        Left e
          | isJust refused || isInterrupt cell e -> do
            -- A branch that was interrupted with its group passes the owner's own interrupt on to
            -- the owner.
            cause <- stopped above
            finish cell (Failed (fromMaybe e cause))
          | otherwise -> do
            when listens tell
            finish cell (Failed e)
    Spark x -> do
      leave visits
      values <- newGroup
      (reason, member) <- memberOf thread self cell
      refused <- enter context member
      -- If the value throws, it throws again to a thread that needs it. If it was interrupted, that
      -- thread resumes it.
      _ <- attempt refused (Inside thread values reason) (void (doom values reason)) (unsafeUnmask (evaluate x))
      finish cell (Done x)
    _ -> pure ()
  where
    thread = target place
    attempt refused inside stopForked action = case refused of
      Just e -> pure (Left e)
      Nothing -> do
        begun <- begin thread stopForked cell
        if begun then within place inside (try action) else pure (Left (interruptOf cell))
    asOwner masking = case masking of
      Unmasked -> unsafeUnmask
      MaskedInterruptible -> id
      MaskedUninterruptible -> uninterruptibleMask_
    quench action = action `catch` \e -> let _ = e :: SomeException in pure ()

    -- The thread that has interrupted the branch knows of the failure, and may be waiting for the
    -- branch now. Then nothing would end the throw. An interrupt that comes later ends it.
    tell = do
      known <- isInterrupted cell
      unless known (quench (throwByTurns (owner context) (Interrupt (pure (Just cell)))) >> switchPoint)

-- | Runs a task in the thread that awaits it, if the task is not claimed, and if any exception that
-- ends the thread's work also ends the task's scope. So the thread must belong to the scope itself,
-- not to an inner scope or a branch, and must have no handler that catches exceptions, as a
-- @timeout@ has. Otherwise the task gets a thread of its own, which goes on when the wait has
-- ended. The caller has masked exceptions. The cell has the exception of the task, and the caller
-- throws it again.
runAwaited :: Deques -> Cell a -> IO ()
runAwaited deques cell = do
  status <- look cell
  case status of
    Task home _ -> do
      context <- contextHere deques
      inside <- if context `isOf` group home then isOpen else pure False
      if inside then runHere cell else runElsewhere cell
    _ -> pure ()
{-# INLINE runAwaited #-}

-- | Starts a thread for a task that is not claimed. In a seeded run the conductor starts it.
runElsewhere :: Cell a -> IO ()
runElsewhere cell = asMember (const (pure ())) (void (forkMasked (asWorker run)))
  where
    run place runs = runs (entryOf cell (Outside (target place)))
{-# NOINLINE runElsewhere #-}

-- | Runs a task in this thread, if it is not claimed.
runHere :: Cell a -> IO ()
runHere cell = do
  status <- claim cell
  case status of
    Task home action -> do
      failed <- fate (group home)
      case failed of
        Just e -> end home cell (Failed e)
        Nothing -> do
          result <- try (aboveBorderUnmasked action)
          case result of
            Right x -> end home cell (Done x)
            Left e -> do
              case fromException e of
                -- The exception is meant for this thread, and reaches the body unless the thread
                -- catches it.
                Just (SomeAsyncException _) -> do
                  cause <- fate (group home)
                  end home cell (Failed (fromMaybe e cause))
                  throwIO e
                Nothing -> failHome home e >> end home cell (Failed e)
    _ -> pure ()
{-# INLINE runHere #-}

-- | Ends a task of a scope: writes its result, counts it, and wakes the threads that wait for it,
-- after the last task also the scope's owner. The result comes first: when the scope has ended, all
-- promises have results. The count is a swap, so it comes before the check whether the owner waits.
end :: Home -> Cell a -> Status a -> IO ()
end home cell result = do
  waiters <- writeResult cell result
  countEnded (counters home)
  wakeAll waiters
  waiting <- isWaiting (counters home)
  when waiting $ do
    done <- quiescent (counters home)
    when done (void (tryPutMVar (allEnded home) ()))
  touch (opener home)

-- | Makes a scope fail, unless it has failed already: interrupts its body and the workers that run
-- its tasks.
failHome :: Home -> SomeException -> IO ()
failHome home e = mask_ (void (doom (group home) e))
