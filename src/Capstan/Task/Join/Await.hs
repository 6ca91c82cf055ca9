{-# LANGUAGE LambdaCase #-}

-- |
-- Module      : Capstan.Task.Join.Await
-- Description : Waiting for tasks: for all, for any, in transactions; and tasks that are cancelled by themselves
module Capstan.Task.Join.Await
  ( awaitAll,
    awaitAny,
    awaitSTM,
    pollSTM,
    asyncCancellable,
  )
where

import Capstan.Exception.Internal (invalid)
import Capstan.Task.Join.Scope
import Capstan.Task.Pool (makeWay)
import Capstan.Task.Thread.Target (forkMasked)
import Capstan.Task.Work.Cell (Cell, wait, watch)
import qualified Capstan.Task.Work.Cell as Cell
import Capstan.Task.Work.Run (runElsewhere)
import Control.Exception
import Control.Monad (join)
import Data.Foldable (asum, for_, toList)
import Data.IORef
import GHC.Conc (STM, TVar, atomically, newTVarIO, readTVar, retry, throwSTM, unsafeIOToSTM, writeTVar)
import GHC.Stack (HasCallStack)

-- | The results of all tasks. Costs as much as an 'await' for each. Throws what the first of them that failed threw, in the order of
-- the container.
--
-- > pages <- mapM (async scope . fetch) addresses >>= awaitAll
awaitAll :: Traversable t => t (Promise a) -> IO (t a)
awaitAll promises = do
  -- The stack stays flat meanwhile, so that the caller runs them.
  for_ promises await
  traverse await promises

-- | The first of some tasks that ends, and its result; of those that have ended before, the first in the order of the container. Throws
-- what it threw. The others go on. The caller runs none of them; those that nobody has begun get a thread each, for a microsecond. No tasks are
-- an 'Capstan.Exception.InvalidArgument'.
--
-- > (winner, answer) <- mapM (async scope . ask) servers >>= awaitAny
awaitAny :: (HasCallStack, Foldable t) => t (Promise a) -> IO (Promise a, a)
awaitAny promises
  | null promises = invalid "Capstan.Task.awaitAny: no tasks; there must be one or more"
  | otherwise = atomically (asum [(,) promise <$> awaitSTM promise | promise <- toList promises])

-- | The result of a task, in a transaction, which retries until there is one. Throws what the task threw. A task that nobody has begun gets a
-- thread, for a microsecond.
--
-- > -- A result, or a message from elsewhere.
-- > atomically ((Left <$> awaitSTM promise) `orElse` (Right <$> readTQueue messages))
awaitSTM :: Promise a -> STM a
awaitSTM promise = resultSTM promise >>= maybe retry (either throwSTM pure)

-- | The result, or what the task threw, if the task has ended; in a transaction, which does not retry by itself. If it does, it is
-- begun again when the task ends.
pollSTM :: Promise a -> STM (Maybe (Either SomeException a))
pollSTM = resultSTM

resultSTM :: Promise a -> STM (Maybe (Either SomeException a))
resultSTM (Mapped f promise) = fmap (fmap f) <$> resultSTM promise
resultSTM (Promise workers cell) = unsafeIOToSTM (Cell.poll cell) >>= maybe later (pure . Just)
  where
    -- What is done outside of the transaction may be done again: it only says who waits.
    later = do
      over <- unsafeIOToSTM (makeWay workers >> watched cell)
      ended <- readTVar over
      if ended then unsafeIOToSTM (Cell.poll cell) else pure Nothing

-- | What turns true when the task ends. If nobody has begun it, a thread does.
watched :: Cell a -> IO (TVar Bool)
watched cell = watch cell >>= maybe begun pure
  where
    begun = do
      over <- newTVarIO False
      _ <- forkMasked (runElsewhere cell >> wait cell >> atomically (writeTVar over True))
      pure over

-- | A task that can be ended by itself, and what ends it. Then the result is 'Nothing', when the task has left; the scope does not
-- fail. To end it again, or when it is over, does nothing. Costs as much as a scope, some hundred nanoseconds.
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

-- | How a task is that can be ended.
data State
  = NotBegun
  | Begun Scope
  | Over

-- | What ends a task: the task knows its own.
newtype Stop = Stop (IORef State)
  deriving (Eq)

instance Show Stop where
  show _ = "the task was cancelled"

instance Exception Stop where
  toException = asyncExceptionToException
  fromException = asyncExceptionFromException
