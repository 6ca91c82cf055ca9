{-# LANGUAGE FlexibleInstances #-}
{-# LANGUAGE ForeignFunctionInterface #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE UndecidableInstances #-}

-- |
-- Module      : Capstan.Callback.Internal
-- Description : The arguments and the result of a callback, and its function pointer
module Capstan.Callback.Internal
  ( Function (..),
    Evaluation (..),
    evaluateCall,
    Mode (..),
    CallbackRefused (..),
    Scope (..),
    open,
    interrupt,
    close,
    setSideStackSize,
    prepareCallbacks,
  )
where

import Capstan.Exception (capstanFromException, capstanToException)
import Capstan.Internal.Coroutine (Callback, Target (..))
import qualified Capstan.Internal.Coroutine as Coroutine
import Capstan.Internal.Value
import Control.Applicative ((<|>))
import Control.Exception
import Control.Monad (when, (>=>))
import Data.IORef
import Data.Word
import Foreign.C.Types
import Foreign.Ptr
import Foreign.StablePtr
import Foreign.Storable
import System.IO.Unsafe (unsafePerformIO)

-- | Whether the garbage collector may run while C computes between two callbacks.
data Mode
  = -- | The collector may run: after a callback, C continues without a Capability, as in a safe
    -- foreign call. This is the right choice for most programs. If callbacks follow each other
    -- within a microsecond, the Capability is not released each time. Another thread that wants it
    -- gets it after the next callback, and a collection begins after sixteen callbacks at most. If
    -- C does not call again, the Capability is released after two milliseconds.
    Released
  | -- | The collector may not run: after a callback, C continues with the Capability, as in an
    -- unsafe foreign call. It keeps the Capability until it calls back again, waits in OpenMP or
    -- ends its region. Such waits are barriers, locks, @taskwait@, a failing test of a lock, and
    -- @taskyield@. A callback costs as much as an unsafe call. This is for C code that calls back
    -- often and waits for nothing else. While it runs, every collection waits for it, and no
    -- @wrapper@ pointer may be called.
    Kept
  deriving (Eq, Ord, Show, Read, Enum, Bounded)

-- | A callback could not be evaluated. The text names the reason and a remedy.
newtype CallbackRefused = CallbackRefused String

instance Show CallbackRefused where
  show (CallbackRefused reason) = reason

instance Exception CallbackRefused where
  toException = capstanToException
  fromException = capstanFromException

-- * Functions

-- | The types of Haskell functions that C can call: any number of 'Argument's, and a 'Returned' as
-- the result, in 'IO' or pure.
class Function f where
  evaluation :: f -> Arguments -> Evaluation

-- | Reads the remaining arguments of a call, and stores the result. (It is a type of its own so
-- that a function of two arguments is inlined where it gets two.)
newtype Evaluation = Evaluation {evaluateAt :: Ptr Call -> IO ()}

-- | Evaluates the call to which the target points. (It is inlined where it gets an evaluation.)
evaluateCall :: Evaluation -> Ptr (Ptr Call) -> IO ()
evaluateCall evaluate' = peek >=> evaluateAt evaluate'
{-# INLINE evaluateCall #-}

instance (Argument a, Function f) => Function (a -> f) where
  evaluation f before = Evaluation $ \call -> do
    let (next, after) = argument call before
    x <- next
    evaluateAt (evaluation (f x) after) call
  {-# INLINE evaluation #-}

instance Returned r => Function (IO r) where
  evaluation action _ = Evaluation $ \call -> action >>= returning call
  {-# INLINE evaluation #-}

-- | A pure function that has all its arguments.
instance {-# OVERLAPPABLE #-} Returned r => Function r where
  evaluation r _ = Evaluation (`returning` r)
  {-# INLINE evaluation #-}

-- * Function pointers

foreign import ccall safe "cst_callback_prepare" prepare :: IO ()

foreign import ccall unsafe "cst_coroutine_set_server"
  setServer :: StablePtr (Ptr a -> IO ()) -> IO ()

foreign import ccall unsafe "cst_callback_open"
  openCallback :: StablePtr Target -> IO (Ptr Callback)

foreign import ccall unsafe "cst_callback_function"
  callbackFunction :: Ptr Callback -> IO (FunPtr f)

foreign import ccall unsafe "cst_callback_close"
  closeCallback :: Ptr Callback -> IO Word32

foreign import ccall unsafe "cst_callback_fail"
  failCallback :: Ptr Callback -> IO ()

foreign import ccall unsafe "cst_coroutine_set_stack_size"
  setStackSize :: CSize -> IO ()

-- | A function pointer that is valid until 'close', and the first exception of its calls.
data Scope f = Scope
  { scopeFunction :: FunPtr f,
    scopeCallback :: Ptr Callback,
    scopeTarget :: StablePtr Target,
    scopeThrown :: IORef (Maybe SomeException)
  }

-- | Prepares the process for its first callback. Later calls do nothing.
prepareCallbacks :: IO ()
prepareCallbacks = evaluate prepared

prepared :: ()
prepared = unsafePerformIO (Coroutine.serverAction >>= setServer . castStable >> prepare)
  where
    castStable = castPtrToStablePtr . castStablePtrToPtr
{-# NOINLINE prepared #-}

-- | Makes a function pointer. The caller must have masked asynchronous exceptions.
open :: Mode -> (Ptr (Ptr Call) -> IO ()) -> IO (Scope f)
open mode run = do
  prepareCallbacks
  thrown <- newIORef Nothing
  failing <- newIORef nullPtr
  target <-
    newStablePtr
      Target
        { targetRun = run,
          targetFailed = \e -> do
            atomicModifyIORef' thrown (\first -> (first <|> Just e, ()))
            readIORef failing >>= failCallback,
          targetResume = case mode of Released -> Coroutine.Released; Kept -> Coroutine.Kept
        }
  callback <- openCallback target
  when (callback == nullPtr) $ do
    freeStablePtr target
    throwIO (CallbackRefused "a function pointer cannot be made: no memory, or this system forbids to make code")
  writeIORef failing callback
  function <- callbackFunction callback
  pure (Scope function callback target thrown)
{-# NOINLINE open #-}

-- | Makes all calls of the function pointer return zero from now on.
interrupt :: Scope f -> IO ()
interrupt = failCallback . scopeCallback

-- | Ends the function pointer. Returns the first exception of its calls, if a call threw.
close :: Scope f -> IO (Maybe SomeException)
close scope = do
  state <- closeCallback (scopeCallback scope)
  freeStablePtr (scopeTarget scope)
  thrown <- readIORef (scopeThrown scope)
  pure $ case thrown of
    Just e -> Just e
    Nothing -> refusal state
{-# NOINLINE close #-}

-- | The exception for a value of @enum cst_callback_state@.
refusal :: Word32 -> Maybe SomeException
refusal state = case state of
  2 -> refused "callback refused: the C function was called by an unsafe foreign import, which holds a Capability while the region's threads wait for one; import it safe"
  3 -> refused "callback refused: an OpenMP worker called back in a program without bound threads; link it with -threaded"
  4 -> refused "callback refused: the process has forked since the callback was made; make it in the child"
  -- The program ends, so this thread ends too, without waiting. As with GHC's other threads, it
  -- prints nothing.
  5 -> Just (toException ThreadKilled)
  6 -> refused "callback refused: no memory for a side stack"
  7 -> refused "callback lost: the Haskell thread that evaluated it was killed"
  _ -> Nothing
  where
    refused = Just . toException . CallbackRefused

-- | Sets the size in bytes of side stacks that are made from now on; the initial size is 1 MiB. C
-- code that a callback calls runs on such a stack. Haskell code itself needs little of it: 64 KiB
-- are enough. An inaccessible page lies below each stack. Only used pages take memory.
setSideStackSize :: Int -> IO ()
setSideStackSize size = setStackSize (fromIntegral (max 65536 size))
