{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Callback
-- Description : Call Haskell from OpenMP regions
module Capstan.Callback
  ( withCallback,
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
import Control.Exception
import Foreign.Ptr (FunPtr, Ptr)

-- | A C function pointer for a Haskell function, for as long as the action runs.
withCallback :: Function f => Mode -> f -> (FunPtr f -> IO a) -> IO a
withCallback mode f = scoped mode (evaluateCall (evaluation f noArguments))
{-# INLINE withCallback #-}

scoped :: Mode -> (Ptr Call -> IO ()) -> (FunPtr f -> IO a) -> IO a
scoped mode run body = mask $ \restore -> do
  scope <- open mode run
  outcome <- try (restore (body (scopeFunction scope)))
  failure <- close scope
  case (outcome, failure) of
    (Left e, _) | Just (SomeAsyncException _) <- fromException e -> throwIO e
    (_, Just e) -> throwIO e
    (Left e, Nothing) -> throwIO e
    (Right a, Nothing) -> pure a
