{-# LANGUAGE CPP #-}
{-# LANGUAGE FlexibleInstances #-}
{-# LANGUAGE ForeignFunctionInterface #-}
{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Callback.Internal
-- Description : How a callback's arguments and results travel
module Capstan.Callback.Internal
  ( Function (..),
    Evaluation (..),
    evaluateCall,
    Argument (..),
    integerArgument,
    realArgument,
    Result (..),
    integerResult,
    realResult,
    Call,
    Arguments,
    noArguments,
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

#include "numbers.h"

import Capstan.Internal.Coroutine (Call, Callback, Target (..))
import qualified Capstan.Internal.Coroutine as Coroutine
import Control.Applicative ((<|>))
import Control.Exception
import Control.Monad (when, (>=>))
import Data.IORef
import Data.Int
import Data.Word
import Foreign.C.Types
import Foreign.Ptr
import Foreign.StablePtr
import Foreign.Storable
import System.IO.Unsafe (unsafePerformIO)
import System.Posix.Types

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

instance Exception CallbackRefused

-- * Arguments and results

-- | How many arguments were found so far in registers for integers, in registers for
-- floating-point numbers, and on the stack.
data Arguments = Arguments !Int !Int !Int

noArguments :: Arguments
noArguments = Arguments 0 0 0
{-# INLINE noArguments #-}

-- Registers of the C convention, and where they are in a call (runtime/platform/stack.h).
integers, reals, realsAt, stackAt :: Int
integers = CST_CALL_INTEGERS
reals = CST_CALL_REALS
realsAt = 8 * integers
stackAt = realsAt + 8 * reals

-- | A type that a C function can be given: its next argument in a call.
--
-- All foreign types of the Haskell report and of "Foreign.C.Types" are instances, and those of
-- "System.Posix.Types". 'Bool' is C's @bool@. A newtype of an instance derives its own:
--
-- > newtype Metres = Metres Double
-- >   deriving newtype (Argument, Result)
--
-- Other types that C passes so become one with 'integerArgument' or 'realArgument':
--
-- > newtype Seconds = Seconds Double deriving newtype (Storable)
-- > instance Argument Seconds where argument = realArgument
class Argument a where
  argument :: Ptr Call -> Arguments -> (IO a, Arguments)

-- | For what C passes as an integer or a pointer.
integerArgument :: Storable a => Ptr Call -> Arguments -> (IO a, Arguments)
integerArgument call (Arguments i r s)
  | i < integers = (peekByteOff call (8 * i), Arguments (i + 1) r s)
  | otherwise = (onStack call s, Arguments i r (s + 1))
{-# INLINE integerArgument #-}

-- | For what C passes as a floating-point number.
realArgument :: Storable a => Ptr Call -> Arguments -> (IO a, Arguments)
realArgument call (Arguments i r s)
  | r < reals = (peekByteOff call (realsAt + 8 * r), Arguments i (r + 1) s)
  | otherwise = (onStack call s, Arguments i r (s + 1))
{-# INLINE realArgument #-}

onStack :: Storable a => Ptr Call -> Int -> IO a
onStack call n = do
  stack <- peekByteOff call stackAt :: IO (Ptr ())
  peekByteOff stack (8 * n)
{-# INLINE onStack #-}

-- | A type that a C function can return.
class Result r where
  result :: Ptr Call -> r -> IO ()

-- | For what C returns as an integer.
integerResult :: Integral r => Ptr Call -> r -> IO ()
integerResult call r = pokeByteOff call 0 (fromIntegral r :: Int64)
{-# INLINE integerResult #-}

-- | For what C returns as a floating-point number.
realResult :: Storable r => Ptr Call -> r -> IO ()
realResult call = pokeByteOff call realsAt
{-# INLINE realResult #-}

-- | A Haskell function that C can call: any number of arguments, and a result, in 'IO' or pure. A newtype of
-- a result derives this as well to be a pure one.
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
    let (get, after) = argument call before
    x <- get
    evaluateAt (evaluation (f x) after) call
  {-# INLINE evaluation #-}

instance Result r => Function (IO r) where
  evaluation action _ = Evaluation $ \call -> action >>= result call
  {-# INLINE evaluation #-}

instance Result () where
  result _ () = pure ()
  {-# INLINE result #-}

given :: Result r => r -> Arguments -> Evaluation
given r _ = Evaluation (`result` r)
{-# INLINE given #-}

-- A foreign type is an argument, a result, and the type of a function of no arguments: the result of a
-- pure function. The last is for each type by itself, since any type could be one.
#define PURE(T) \
instance Function T where {evaluation = given; {-# INLINE evaluation #-}}
#define INTEGER(T) \
instance Argument T where {argument = integerArgument; {-# INLINE argument #-}}; \
instance Result T where {result = integerResult; {-# INLINE result #-}}; \
PURE (T)
-- An integer in C, of which Haskell does not say so.
#define OPAQUE(T) \
instance Argument T where {argument = integerArgument; {-# INLINE argument #-}}; \
instance Result T where {result call = integerResult call . fromEnum; {-# INLINE result #-}}; \
PURE (T)
#define REAL(T) \
instance Argument T where {argument = realArgument; {-# INLINE argument #-}}; \
instance Result T where {result = realResult; {-# INLINE result #-}}; \
PURE (T)
#define POINTER(T) \
instance Argument (T a) where {argument = integerArgument; {-# INLINE argument #-}}; \
instance Result (T a) where {result call = pokeByteOff call 0; {-# INLINE result #-}}; \
PURE ((T a))

-- | A C @bool@ or @_Bool@, of which a register holds eight bits.
instance Argument Bool where
  argument call before = ((/= (0 :: Word8)) <$> get, after)
    where
      (get, after) = integerArgument call before
  {-# INLINE argument #-}

instance Result Bool where
  result call = integerResult call . fromEnum
  {-# INLINE result #-}

PURE (Bool)

INTEGER (Int)
INTEGER (Int8)
INTEGER (Int16)
INTEGER (Int32)
INTEGER (Int64)
INTEGER (Word)
INTEGER (Word8)
INTEGER (Word16)
INTEGER (Word32)
INTEGER (Word64)
INTEGER (CChar)
INTEGER (CSChar)
INTEGER (CUChar)
INTEGER (CShort)
INTEGER (CUShort)
INTEGER (CInt)
INTEGER (CUInt)
INTEGER (CLong)
INTEGER (CULong)
INTEGER (CLLong)
INTEGER (CULLong)
INTEGER (CSize)
INTEGER (CPtrdiff)
INTEGER (CIntPtr)
INTEGER (CUIntPtr)
INTEGER (CIntMax)
INTEGER (CUIntMax)
INTEGER (CBool)
INTEGER (CWchar)
INTEGER (CSigAtomic)
OPAQUE (Char)
OPAQUE (CTime)
OPAQUE (CClock)
OPAQUE (CUSeconds)
OPAQUE (CSUSeconds)
REAL (Double)
REAL (Float)
REAL (CDouble)
REAL (CFloat)
POINTER (Ptr)
POINTER (FunPtr)
POINTER (StablePtr)

-- As Linux has them.

INTEGER (CBlkCnt)
INTEGER (CBlkSize)
INTEGER (CClockId)
INTEGER (CDev)
INTEGER (CFsBlkCnt)
INTEGER (CFsFilCnt)
INTEGER (CGid)
INTEGER (CId)
INTEGER (CIno)
INTEGER (CKey)
INTEGER (CMode)
INTEGER (CNfds)
INTEGER (CNlink)
INTEGER (COff)
INTEGER (CPid)
INTEGER (CRLim)
INTEGER (CSocklen)
INTEGER (CSsize)
INTEGER (CTcflag)
INTEGER (CUid)
INTEGER (Fd)
OPAQUE (CCc)
OPAQUE (CSpeed)

instance Argument CTimer where
  argument = integerArgument
  {-# INLINE argument #-}

instance Result CTimer where
  result call = pokeByteOff call 0
  {-# INLINE result #-}

PURE (CTimer)

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
