-- |
-- Module      : Capstan.Task.Run
-- Description : Running a task that was claimed, by a worker or by who awaits it
module Capstan.Task.Run
  ( runClaimed,
    runAwaited,
    failHome,
  )
where

import Capstan.Task.Cell
import Capstan.Task.Counters
import Control.Concurrent (forkIO)
import Control.Concurrent.MVar (tryPutMVar)
import Control.Exception
import Control.Monad (void, when)
import Data.IORef
import Data.Maybe (fromMaybe)
import GHC.Conc (ThreadId (..))
import GHC.IO (unsafeUnmask)

-- | Claims a task that a worker took from a deque, and runs it. The caller is masked. An exception that
-- comes out of the task's own handling concerns no task any more.
runClaimed :: IO [Current] -> IORef Current -> Cell a -> IO ()
runClaimed everyone current cell = quench $ do
  status <- claim cell
  case status of
    Task home action -> do
      begun <- begin cell
      -- Before the look at the failure: see the head of "Capstan.Task.Scope".
      atomicWriteIORef current (Running (failure home) (interrupt cell))
      failed <- readIORef (failure home)
      outcome <- attempt begun (maybe action throwIO failed)
      writeIORef current NoTask
      case outcome of
        Right x -> end home cell (Done x)
        Left e
          | isInterrupt cell e -> do
            cause <- readIORef (failure home)
            end home cell (Failed (fromMaybe e cause))
          | otherwise -> failHome everyone home e >> end home cell (Failed e)
    Branch owner listens right -> do
      begun <- begin cell
      outcome <- attempt begun right
      case outcome of
        Right x -> finish cell (Done x)
        Left e -> do
          when (listens && not (isInterrupt cell e)) $
            quench (throwTo (ThreadId owner) (Interrupt cell))
          finish cell (Failed e)
    Spark x -> do
      -- What the value throws it throws again to who needs it.
      quench (unsafeUnmask (void (evaluate x)))
      finish cell (Done x)
    _ -> pure ()
  where
    attempt begun action = if begun then try (unsafeUnmask action) else pure (Left (toException (Interrupt cell)))
    quench action = action `catch` \e -> let _ = e :: SomeException in pure ()

-- | Runs a task in the thread that awaits it, if nobody has claimed it. The caller is masked. What the
-- task throws is in the cell, for the caller to throw again.
runAwaited :: IO [Current] -> Cell a -> IO ()
runAwaited everyone cell = do
  status <- claim cell
  case status of
    Task home action -> do
      failed <- readIORef (failure home)
      case failed of
        Just e -> end home cell (Failed e)
        Nothing -> do
          result <- (Done <$> unsafeUnmask action) `catch` blame home
          end home cell result
    _ -> pure ()
  where
    -- An asynchronous exception is the thread's own affair, and the body's if it gets there.
    blame home e = case fromException e of
      Just (SomeAsyncException _) -> pure (Failed e)
      Nothing -> Failed e <$ failHome everyone home e
{-# INLINE runAwaited #-}

-- | The end of a task of a scope: counts it, shows its result, and wakes the scope's owner if it was the
-- last one. The result's swap also orders the count before the look at who waits.
end :: Home -> Cell a -> Status a -> IO ()
end home cell result = do
  countEnded (counters home)
  finish cell result `onException` wakeOwner home
  wakeOwner home

wakeOwner :: Home -> IO ()
wakeOwner home = do
  waiting <- isWaiting (counters home)
  when waiting $ do
    done <- quiescent (counters home)
    when done (void (tryPutMVar (allEnded home) ()))

-- | Makes a scope fail, unless it has: interrupts those workers that run a task of it, and its body.
failHome :: IO [Current] -> Home -> SomeException -> IO ()
failHome everyone home e = mask_ $ do
  first <- atomicModifyIORef' (failure home) $ \now -> case now of
    Nothing -> (Just e, True)
    Just _ -> (now, False)
  -- A thread of its own: whoever fails may be one of those who are interrupted.
  when first . void . forkIO . uninterruptibleMask_ $ do
    running <- everyone
    sequence_ [stop | Running theirs stop <- running, theirs == failure home]
    interrupt (bodyCell home)
