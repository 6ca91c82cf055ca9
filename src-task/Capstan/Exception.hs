{-# LANGUAGE ExistentialQuantification #-}

-- |
-- Module      : Capstan.Exception
-- Description : The exceptions of the library
-- Stability   : experimental
--
-- All exceptions of the library have one root, 'CapstanException'. Only errors of the operating
-- system are 'IOError's:
--
-- @
-- CapstanException
--   InvalidArgument    an argument that the function does not allow; the message says what is allowed
--     OutOfBounds      an index that an array does not have
--   Unavailable        something that the program or the machine does not have, such as memory
--   PoolEnded          "Capstan.Task": the pool is closed: its withPool block has returned
--   ScopeEnded         "Capstan.Task": the scope has ended
--   Cancelled          "Capstan.Task": the scope was cancelled; an asynchronous exception
--   ChanClosed         "Capstan.Chan": the channel was closed
--   CallbackRefused    "Capstan.Callback": a callback could not be evaluated
-- @
--
-- > result <- try (newBounded size)
-- > case result of
-- >   Left e -> putStrLn ("not made: " ++ displayException (e :: CapstanException))
-- >   Right chan -> use chan
--
-- 'Capstan.Task.Cancelled' is in two hierarchies: a handler for
-- 'Control.Exception.SomeAsyncException' catches it, and so does a handler for 'CapstanException'.
--
-- @since 0.1.0
module Capstan.Exception
  ( CapstanException (..),
    InvalidArgument (..),
    OutOfBounds (..),
    Unavailable (..),

    -- * For libraries that build on this one
    capstanToException,
    capstanFromException,
    asyncCapstanToException,
    throwInvalid,
    invalidValue,
    throwUnavailable,
    throwOutOfBounds,
  )
where

import Control.Applicative ((<|>))
import Control.Exception
import Data.Typeable (cast)
import GHC.Stack (CallStack, HasCallStack, callStack, getCallStack, prettyCallStack, withFrozenCallStack)

-- | The root of all exceptions of the library.
data CapstanException = forall e. Exception e => CapstanException e

instance Show CapstanException where
  showsPrec n (CapstanException e) = showsPrec n e

instance Exception CapstanException where
  displayException (CapstanException e) = displayException e
  fromException (SomeException e) = cast e <|> (cast e >>= \(SomeAsyncException inner) -> cast inner)

-- | For 'toException' of an exception below the root.
capstanToException :: Exception e => e -> SomeException
capstanToException = toException . CapstanException

-- | For 'toException' of an asynchronous exception below the root.
asyncCapstanToException :: Exception e => e -> SomeException
asyncCapstanToException = toException . SomeAsyncException . CapstanException

-- | For 'fromException' of an exception below the root, asynchronous or not.
capstanFromException :: Exception e => SomeException -> Maybe e
capstanFromException e = fromException e >>= \(CapstanException inner) -> cast inner

-- | The caller has given a function an argument that it does not allow. The text names the
-- function, the value and the allowed values. It also has the place of the call, if the function
-- knows it.
data InvalidArgument = forall e. Exception e => InvalidArgument e

instance Show InvalidArgument where
  showsPrec n (InvalidArgument e) = showsPrec n e

instance Exception InvalidArgument where
  toException = capstanToException
  fromException = capstanFromException
  displayException (InvalidArgument e) = displayException e

-- | A value that is not allowed.
data InvalidValue = InvalidValue String CallStack

instance Show InvalidValue where
  showsPrec _ (InvalidValue text stack) = showString (text ++ place stack)

instance Exception InvalidValue where
  toException = toException . InvalidArgument
  fromException e = fromException e >>= \(InvalidArgument inner) -> cast inner

-- | An index that an array does not have.
data OutOfBounds = OutOfBounds
  { -- | The function that was called.
    boundsFunction :: String,
    boundsIndex :: Int,
    -- | The number of elements of the array. An index must be at least 0 and less than this number.
    boundsElements :: Int,
    boundsCallStack :: CallStack
  }

instance Show OutOfBounds where
  showsPrec _ e = showString (boundsFunction e ++ ": index " ++ show (boundsIndex e) ++ " of " ++ show (boundsElements e) ++ " elements" ++ place (boundsCallStack e))

instance Exception OutOfBounds where
  toException = toException . InvalidArgument
  fromException e = fromException e >>= \(InvalidArgument inner) -> cast inner

-- | The function needs something that is missing: memory, a result, or a runtime system with
-- threads. The text names it.
newtype Unavailable = Unavailable String

instance Show Unavailable where
  showsPrec _ (Unavailable text) = showString text

instance Exception Unavailable where
  toException = capstanToException
  fromException = capstanFromException

-- | The lines below a text that name the place of the call, if it is known.
place :: CallStack -> String
place stack
  | null (getCallStack stack) = ""
  | otherwise = '\n' : prettyCallStack stack

-- | Throws an 'InvalidArgument' with that text.
throwInvalid :: HasCallStack => String -> IO a
throwInvalid text = withFrozenCallStack (throwIO (InvalidValue text callStack))

-- | As 'throwInvalid', for a pure value.
invalidValue :: HasCallStack => String -> a
invalidValue text = withFrozenCallStack (throw (InvalidValue text callStack))

-- | Throws 'Unavailable' with that text.
throwUnavailable :: String -> IO a
throwUnavailable = throwIO . Unavailable

-- | Throws 'OutOfBounds' for a function, an index and the number of elements.
throwOutOfBounds :: HasCallStack => String -> Int -> Int -> IO a
throwOutOfBounds function at count = withFrozenCallStack (throwIO (OutOfBounds function at count callStack))
