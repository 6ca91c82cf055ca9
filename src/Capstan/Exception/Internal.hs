{-# LANGUAGE ExistentialQuantification #-}

-- |
-- Module      : Capstan.Exception.Internal
-- Description : The exceptions of "Capstan.Exception", and functions that throw them
module Capstan.Exception.Internal
  ( CapstanException (..),
    capstanToException,
    capstanFromException,
    asyncCapstanToException,

    -- * Errors of calls
    InvalidArgument (..),
    OutOfBounds (..),
    Unavailable (..),
    invalid,
    invalidValue,
    unavailable,
    outOfBounds,
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
invalid :: HasCallStack => String -> IO a
invalid text = withFrozenCallStack (throwIO (InvalidValue text callStack))

-- | As 'invalid', for a pure value.
invalidValue :: HasCallStack => String -> a
invalidValue text = withFrozenCallStack (throw (InvalidValue text callStack))

-- | Throws 'Unavailable' with that text.
unavailable :: String -> IO a
unavailable = throwIO . Unavailable

-- | Throws 'OutOfBounds' for a function, an index and the number of elements.
outOfBounds :: HasCallStack => String -> Int -> Int -> IO a
outOfBounds function at count = withFrozenCallStack (throwIO (OutOfBounds function at count callStack))
