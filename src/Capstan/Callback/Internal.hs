{-# LANGUAGE FlexibleInstances #-}
{-# LANGUAGE ForeignFunctionInterface #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE UndecidableInstances #-}

-- |
-- Module      : Capstan.Callback.Internal
-- Description : How a callback reads its arguments and stores its result
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

import Capstan.Exception.Internal (capstanFromException, capstanToException)
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
  = -- | It may: after a callback C goes on without a Capability, as in a safe foreign call. Right
    -- unless you know better. Where callbacks come faster than one in a microsecond the Capability is not
    -- given away each time: who wants it gets it after the next callback, a collection after sixteen at most, and
    -- if C does not call again, either gets it after two milliseconds.
    Released
  | -- | It may not: after a callback C goes on with the Capability, as in an unsafe foreign call,
    -- until it calls back again, waits in OpenMP (barrier, lock, @taskwait@; a test of a lock that is taken, or
    -- @taskyield@) or ends its region.
    -- The cost of a callback is that of an unsafe call. For C code that calls back often and
    -- waits for nothing else: while it does, every collection waits for it, and a @wrapper@
    -- pointer must not be called.
    Kept
  deriving (Eq, Ord, Show, Read, Enum, Bounded)

-- | A callback could not be evaluated. The text says why, and what to do.
newtype CallbackRefused = CallbackRefused String

instance Show CallbackRefused where
  show (CallbackRefused reason) = reason

instance Exception CallbackRefused where
  toException = capstanToException
  fromException = capstanFromException

-- * Functions

-- | A Haskell function that C can call: of any number of 'Argument's, with a 'Returned', in 'IO' or pure.
class Function f where
  evaluation :: f -> Arguments -> Evaluation

-- | Reads a call's arguments that come after some others, and stores the result. (A function of two
-- arguments is inlined where it is given two.)
newtype Evaluation = Evaluation {evaluateAt :: Ptr Call -> IO ()}

-- | Of the call that the target points to. (Inlined where it is given an evaluation.)
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

-- | A pure function, when it has all its arguments.
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

-- | A function pointer until 'close', and the first exception of its calls.
data Scope f = Scope
  { scopeFunction :: FunPtr f,
    scopeCallback :: Ptr Callback,
    scopeTarget :: StablePtr Target,
    scopeThrown :: IORef (Maybe SomeException)
  }

-- | Before the first callback of the process; done once.
prepareCallbacks :: IO ()
prepareCallbacks = evaluate prepared

prepared :: ()
prepared = unsafePerformIO (Coroutine.serverAction >>= setServer . castStable >> prepare)
  where
    castStable = castPtrToStablePtr . castStablePtrToPtr
{-# NOINLINE prepared #-}

-- | Makes a function pointer. To be called with asynchronous exceptions masked.
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

-- | Lets its calls return zero from now on.
interrupt :: Scope f -> IO ()
interrupt = failCallback . scopeCallback

-- | Ends it, and gives the exception of its calls, if there was any.
close :: Scope f -> IO (Maybe SomeException)
close scope = do
  state <- closeCallback (scopeCallback scope)
  freeStablePtr (scopeTarget scope)
  thrown <- readIORef (scopeThrown scope)
  pure $ case thrown of
    Just e -> Just e
    Nothing -> refusal state
{-# NOINLINE close #-}

-- | As @enum cst_callback_state@.
refusal :: Word32 -> Maybe SomeException
refusal state = case state of
  2 -> refused "callback refused: the C function was called by an unsafe foreign import, which holds a Capability while the region's threads wait for one; import it safe"
  3 -> refused "callback refused: an OpenMP worker called back in a program without bound threads; link it with -threaded"
  4 -> refused "callback refused: the process has forked since the callback was made; make it in the child"
  -- The program ends, and so does this thread, which waits for nobody: as with GHC's other threads, nothing is printed.
  5 -> Just (toException ThreadKilled)
  6 -> refused "callback refused: no memory for a side stack"
  7 -> refused "callback lost: the Haskell thread that evaluated it was killed"
  _ -> Nothing
  where
    refused = Just . toException . CallbackRefused

-- | How large the side stacks are that are made from now on, in bytes; 1 MiB if this was never
-- called. What a callback calls in C runs on such a stack; Haskell code itself needs little of it,
-- 64 KiB are enough. Below each lies an inaccessible page. Only used pages take memory.
setSideStackSize :: Int -> IO ()
setSideStackSize size = setStackSize (fromIntegral (max 65536 size))
