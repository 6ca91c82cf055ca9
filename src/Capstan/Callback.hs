{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Callback
-- Description : Call Haskell from OpenMP regions
module Capstan.Callback
  ( withCallback,
    withInterruptibleCallback,
    Mode (..),
    Function,
    Argument (..),
    integerArgument,
    realArgument,
    Result (..),
    integerResult,
    realResult,
    CallbackRefused (..),
    setSideStackSize,
  )
where

import Capstan.Callback.Internal
import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar)
import Control.Exception
import Foreign.Ptr (FunPtr, Ptr)

-- | A C function pointer for a Haskell function, for as long as the action runs.
withCallback :: Function f => Mode -> f -> (FunPtr f -> IO a) -> IO a
withCallback mode f = scoped byCaller mode (evaluateCall (evaluation f noArguments))
{-# INLINE withCallback #-}

-- | The same, but the caller can be interrupted.
withInterruptibleCallback :: Function f => Mode -> f -> (FunPtr f -> IO a) -> IO a
withInterruptibleCallback mode f = scoped byAnother mode (evaluateCall (evaluation f noArguments))
{-# INLINE withInterruptibleCallback #-}

-- | Makes the pointer, runs the body, and decides how it ends.
scoped ::
  (Scope f -> IO a -> IO (Either SomeException a)) -> Mode -> (Ptr Call -> IO ()) -> (FunPtr f -> IO a) -> IO a
scoped run mode evaluate' body = mask $ \restore -> do
  scope <- open mode evaluate'
  outcome <- run scope (restore (body (scopeFunction scope)))
  failure <- close scope
  case (outcome, failure) of
    (Left e, _) | Just (SomeAsyncException _) <- fromException e -> throwIO e
    (_, Just e) -> throwIO e
    (Left e, Nothing) -> throwIO e
    (Right a, Nothing) -> pure a
{-# NOINLINE scoped #-}

-- | By the calling thread, which C blocks.
byCaller :: Scope f -> IO a -> IO (Either SomeException a)
byCaller _ = try

-- | By another thread, so that the calling one can be interrupted. It waits for the other all the
-- same, whose foreign call nobody can end; but no Haskell code holds it up any more.
byAnother :: Scope f -> IO a -> IO (Either SomeException a)
byAnother scope action = do
  done <- newEmptyMVar
  _ <- forkIO (try action >>= putMVar done)
  takeMVar done `catch` \e -> do
    interrupt scope
    _ <- uninterruptibleMask_ (takeMVar done)
    pure (Left e)
