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
import Control.Concurrent.MVar (tryPutMVar)
import Control.Exception
import Control.Monad (void, when)
import Data.IORef
import Data.Maybe (fromMaybe)
import GHC.Conc (ThreadId (..))
import GHC.IO (unsafeUnmask)

-- | Claims a task that a worker took from a deque, and runs it. The caller is masked. An exception that
-- comes out of the task's own handling concerns no task any more.
runClaimed :: Runner -> IO [Current] -> IORef Current -> Cell a -> IO ()
runClaimed self everyone current cell = quench $ do
  status <- claim cell
  case status of
    Task home action -> do
      begun <- begin self cell
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
      begun <- begin self cell
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
          result <- try (unsafeUnmask action)
          case result of
            Right x -> end home cell (Done x)
            Left e -> do
              case fromException e of
                -- The thread's own affair, and the body's if it gets there.
                Just (SomeAsyncException _) -> do
                  cause <- readIORef (failure home)
                  end home cell (Failed (fromMaybe e cause))
                  throwIO e
                Nothing -> failHome everyone home e >> end home cell (Failed e)
    _ -> pure ()
{-# INLINE runAwaited #-}

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

-- | Makes a scope fail, unless it has: interrupts those workers that run a task of it, and its body.
failHome :: IO [Current] -> Home -> SomeException -> IO ()
failHome everyone home e = mask_ $ do
  first <- atomicModifyIORef' (failure home) $ \now -> case now of
    Nothing -> (Just e, True)
    Just _ -> (now, False)
  when first $ do
    running <- everyone
    interrupt (bodyCell home)
    sequence_ [stop | Running theirs stop <- running, theirs == failure home]
