{-# LANGUAGE LambdaCase #-}

-- |
-- Module      : Capstan.Task.Join.Await
-- Description : Waits with a limit, for all or any of several tasks, and in transactions; tasks that
-- can be cancelled alone
module Capstan.Task.Join.Await
  ( awaitWithin,
    awaitAll,
    awaitAny,
    awaitSTM,
    pollSTM,
    asyncCancellable,
  )
where

import Capstan.Duration (Duration, toMicroseconds, unlimited)
import Capstan.Exception (throwInvalid)
import Capstan.Task.Join.Scope
import Capstan.Task.Pool (makeWay)
import Capstan.Task.Thread.Target (forkMasked)
import Capstan.Task.Work.Cell (Cell, wait, watch)
import qualified Capstan.Task.Work.Cell as Cell
import Capstan.Task.Work.Run (runElsewhere)
import Control.Concurrent (killThread, threadDelay)
import Control.Exception
import Control.Monad (join)
import Data.Foldable (for_, toList)
import Data.IORef
import GHC.Conc (STM, TVar, atomically, newTVarIO, orElse, readTVar, retry, throwSTM, unsafeIOToSTM, writeTVar)
import GHC.Stack (HasCallStack)
import System.Timeout (timeout)

-- | As 'await', with a limit of time. When the time is over, the result is 'Nothing', and the task
-- goes on. 'unlimited' is no limit. The caller never runs the task itself. The limit holds in any
-- masking state.
--
-- > awaitWithin (milliseconds 1) promise >>= maybe (putStrLn "still at it" >> await promise) pure
awaitWithin :: Duration -> Promise a -> IO (Maybe a)
awaitWithin limit promise = poll promise >>= maybe later (either throwIO (pure . Just))
  where
    later
      | limit == unlimited = Just <$> await promise
      | otherwise = do
        masking <- getMaskingState
        if masking == MaskedUninterruptible then untilOver else timeout (toMicroseconds limit) (await promise)
    -- The exception of a timeout would not arrive, so a timer ends the wait by a variable.
    untilOver = do
      over <- newTVarIO False
      timer <- forkMasked (threadDelay (toMicroseconds limit) >> atomically (writeTVar over True))
      let expired = readTVar over >>= \gone -> if gone then pure Nothing else retry
      atomically ((Just <$> awaitSTM promise) `orElse` expired) `finally` killThread timer

-- | The results of all tasks. Costs as much as an 'await' for each task. If tasks failed, it throws
-- the exception of the first of these in the order of the container.
--
-- > pages <- mapM (async scope . fetch) addresses >>= awaitAll
awaitAll :: Traversable t => t (Promise a) -> IO (t a)
awaitAll promises = do
  -- This pass keeps the stack flat, so the caller can run the tasks itself.
  for_ promises await
  traverse await promises

-- | Waits until one of several tasks has ended, and returns it with its result. If several have
-- ended already, it takes the first in the order of the container. Throws the exception of that
-- task, if it threw. The other tasks go on. The caller runs none of the tasks: each task that has
-- not begun gets a thread, which costs a microsecond. Each time that one of the tasks ends, the
-- call looks at all of them. Throws an 'Capstan.Exception.InvalidArgument' if there are no tasks.
--
-- > (winner, answer) <- mapM (async scope . ask) servers >>= awaitAny
awaitAny :: (HasCallStack, Foldable t) => t (Promise a) -> IO (Promise a, a)
awaitAny promises
  | null promises = throwInvalid "Capstan.Task.awaitAny: no tasks; there must be one or more"
  | otherwise = atomically (first (toList promises))
  where
    -- A chain of 'orElse' takes the square of the number of tasks, for its nested transactions.
    first [] = retry
    first (promise : others) = pollSTM promise >>= maybe (first others) (either throwSTM (\x -> pure (promise, x)))

-- | The result of a task in a transaction, which retries until the task has ended. Throws the
-- exception of the task, if it threw. A task that has not begun gets a thread, which costs a
-- microsecond.
--
-- > -- A result, or a message from elsewhere.
-- > atomically ((Left <$> awaitSTM promise) `orElse` (Right <$> readTQueue messages))
awaitSTM :: Promise a -> STM a
awaitSTM promise = resultSTM promise >>= maybe retry (either throwSTM pure)

-- | The result or the exception of a task, if the task has ended, in a transaction. The call itself
-- does not retry. If the transaction retries, it runs again when the task ends.
pollSTM :: Promise a -> STM (Maybe (Either SomeException a))
pollSTM = resultSTM

resultSTM :: Promise a -> STM (Maybe (Either SomeException a))
resultSTM (Mapped f promise) = fmap (fmap f) <$> resultSTM promise
resultSTM (Promise workers cell) = unsafeIOToSTM (Cell.poll cell) >>= maybe later (pure . Just)
  where
    -- The steps outside of the transaction may be repeated: they only register the waiting thread.
    later = do
      over <- unsafeIOToSTM (makeWay workers >> watched cell)
      ended <- readTVar over
      if ended then unsafeIOToSTM (Cell.poll cell) else pure Nothing

-- | A variable that becomes 'True' when the task ends. If the task has not begun, a new thread runs
-- it.
watched :: Cell a -> IO (TVar Bool)
watched cell = watch cell >>= maybe begun pure
  where
    begun = do
      over <- newTVarIO False
      _ <- forkMasked (runElsewhere cell >> wait cell >> atomically (writeTVar over True))
      pure over

-- | Starts a task that can be cancelled alone, and returns the action that cancels it. The result
-- of a cancelled task is 'Nothing', once the task has ended; its scope does not fail. The action
-- does nothing if the task was cancelled before or has ended. Costs as much as a scope, some
-- hundred nanoseconds.
--
-- > (search, giveUp) <- asyncCancellable scope (exhaustively board)
-- > awaitWithin (seconds 1) search >>= maybe (giveUp >> await search) pure
asyncCancellable :: Scope -> IO a -> IO (Promise (Maybe a), IO ())
asyncCancellable scope action = do
  state <- newIORef NotBegun
  let stop = Stop state
      begin inner = atomicModifyIORef' state $ \now -> case now of
        NotBegun -> (Begun inner, action)
        _ -> (now, throwIO stop)
      end = join . atomicModifyIORef' state $ \case
        NotBegun -> (Over, pure ())
        Begun inner -> (Over, cancelWith inner (toException stop))
        Over -> (Over, pure ())
      task = (Just <$> runIn scope (join . begin)) `catch` \e -> if e == stop then pure Nothing else throwIO e
  promise <- async scope (task <* writeIORef state Over)
  pure (promise, end)

-- | The state of a task that can be cancelled.
data State
  = NotBegun
  | Begun Scope
  | Over

-- | The exception that cancels a task. It contains the state of the task, by which the task
-- recognises it.
newtype Stop = Stop (IORef State)
  deriving (Eq)

instance Show Stop where
  show _ = "the task was cancelled"

instance Exception Stop where
  toException = asyncExceptionToException
  fromException = asyncExceptionFromException
