-- |
-- Module      : Capstan.Task.Work.Run
-- Description : Running a task that was claimed, by a worker or by who awaits it
module Capstan.Task.Work.Run
  ( runClaimed,
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
import Control.Concurrent.MVar (tryPutMVar)
import Control.Exception
import Control.Monad (unless, void, when)
import Control.Monad.Primitive (touch)
import Data.Maybe (fromMaybe, isJust, isNothing)
import GHC.IO (unsafeUnmask)

-- | Whether a worker is to claim what it found in a deque. A branch or a value of a doomed group is left to
-- its owner, who claims it if it ever gets there; a task of a scope must end, doomed or not.
isWanted :: Entry -> IO Bool
isWanted (Entry cell context) = do
  status <- look cell
  case status of
    Task _ _ -> pure True
    Branch masking _ -> if masking == Unmasked then isNothing <$> stopped context else pure True
    Spark _ -> isNothing <$> stopped context
    _ -> pure False

-- | Claims a task that a worker took from a deque, and runs it. The caller is masked; its place is given, and itself. An
-- exception that comes out of the task's own handling concerns no task any more.
runClaimed :: Place -> Self -> Entry -> IO ()
runClaimed place self entry@(Entry cell context) = (>> workDone self) . quench $ do
  wanted <- isWanted entry
  status <- if wanted then claim cell else look cell
  case status of
    _ | not wanted -> pure ()
    Task home action -> do
      (reason, member) <- memberOf thread self cell
      let inside = Inside thread (group home) reason
      refused <- enter inside member
      outcome <- attempt refused inside (pure ()) (aboveBorderUnmasked action)
      failed <- fate (group home)
      case outcome of
        Right x -> end home cell (Done x)
        Left e
          | isInterrupt cell e -> end home cell (Failed (fromMaybe e failed))
          | otherwise -> failHome home e >> end home cell (Failed e)
    Branch masking right -> do
      branch <- newGroup
      (reason, member) <- memberOf thread self cell
      let listens = masking == Unmasked
          above = if listens then context else Outside thread
      refused <- enter above member
      outcome <- attempt refused (Inside thread branch reason) (void (doom branch reason)) (asOwner masking right)
      case outcome of
        Right x -> finish cell (Done x)
        Left e
          | isJust refused || isInterrupt cell e -> do
            -- What was interrupted with its group throws to its owner what the owner is interrupted by.
            cause <- stopped above
            finish cell (Failed (fromMaybe e cause))
          | otherwise -> do
            when listens tell
            finish cell (Failed e)
    Spark x -> do
      values <- newGroup
      (reason, member) <- memberOf thread self cell
      refused <- enter context member
      -- What the value throws it throws again to who needs it; if it was interrupted, that one goes on with it.
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

    -- Who has interrupted the branch knows, and may be waiting for it by now: nothing would end the throw then. If the
    -- interrupt comes later it does.
    tell = do
      known <- isInterrupted cell
      unless known (quench (throwByTurns (owner context) (Interrupt (pure (Just cell)))) >> switchPoint)

-- | Runs a task in the thread that awaits it, if nobody has claimed it and what ends that thread's work ends the task's scope: it is of
-- the scope itself, not of one inside or of a branch, and nothing in it would catch an exception, as a @timeout@ does. Else the
-- task gets a thread of its own, which goes on when the wait has ended. The caller is masked. What the task throws is in the cell, for
-- the caller to throw again.
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

-- | Starts a thread for a task that nobody has claimed. In a seeded run the conductor does.
runElsewhere :: Cell a -> IO ()
runElsewhere cell = asMember (const (pure ())) (void (forkMasked (workerPlace run)))
  where
    run place self = runClaimed place self (entryOf cell (Outside (target place)))
{-# NOINLINE runElsewhere #-}

-- | Runs a task in this thread, if nobody has claimed it.
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
                -- The thread's own affair, and the body's if it gets there.
                Just (SomeAsyncException _) -> do
                  cause <- fate (group home)
                  end home cell (Failed (fromMaybe e cause))
                  throwIO e
                Nothing -> failHome home e >> end home cell (Failed e)
    _ -> pure ()
{-# INLINE runHere #-}

-- | The end of a task of a scope: counts it, shows its result, and wakes the scope's owner if it was the
-- last one. The result's swap also orders the count before the look at who waits.
end :: Home -> Cell a -> Status a -> IO ()
end home cell result = do
  countEnded (counters home)
  finish cell result
  waiting <- isWaiting (counters home)
  when waiting $ do
    done <- quiescent (counters home)
    when done (void (tryPutMVar (allEnded home) ()))
  touch (opener home)

-- | Makes a scope fail, unless it has: interrupts those workers that run a task of it, and its body.
failHome :: Home -> SomeException -> IO ()
failHome home e = mask_ (void (doom (group home) e))
