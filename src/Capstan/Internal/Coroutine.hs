{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE ForeignFunctionInterface #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE RankNTypes #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Internal.Coroutine
-- Description : The Haskell side of a callback
--
-- A C thread that calls back gets a bound Haskell thread of its own, which runs 'serve' on a side
-- stack (@runtime\/substrate\/rts\/coroutine.c@). A callback returns into Haskell from one of the
-- foreign calls below, and the next such call lets C continue.
module Capstan.Internal.Coroutine
  ( Call,
    Callback,
    Target (..),
    Resume (..),
    serverAction,
  )
where

import Control.Exception (SomeException, evaluate, mask, try)
import Control.Monad (unless)
import Data.IORef (newIORef, readIORef)
import Data.Word (Word8)
import Foreign.Ptr (nullPtr, plusPtr)
import Foreign.StablePtr (StablePtr, castPtrToStablePtr, deRefStablePtr, newStablePtr)
import Foreign.Storable (peekByteOff, pokeByteOff)
import GHC.Exts (Addr#, Ptr (..), RealWorld, State#)
import GHC.IO (IO (..), unsafeDupablePerformIO)

-- | A call's arguments and results: @struct cst_call@.
data Call

-- | A C function pointer that evaluates a Haskell function: @struct cst_callback@.
data Callback

-- | A C thread's coroutine: @struct cst_coroutine@.
data Side

-- | How C continues after a callback.
data Resume
  = -- | As in a safe foreign call: the Capability is free meanwhile.
    Released
  | -- | As in an unsafe foreign call: the thread keeps the Capability.
    Kept

-- | The Haskell side of a function pointer.
data Target = Target
  { -- | Evaluates a call: reads its arguments and stores its result. The outer pointer is always
    -- the same, so a call allocates no pointer; its target is the address of the call.
    targetRun :: Ptr (Ptr Call) -> IO (),
    -- | Takes the exception of a call that threw. Does not throw.
    targetFailed :: SomeException -> IO (),
    targetResume :: !Resume
  }

-- The first is in cmm/coroutine.cmm, the second in stack.S. They jump, and do not call: see
-- cst_stack_switch in runtime/platform/stack.h.
foreign import prim "capstan_resume_released"
  resumeReleased# :: Addr# -> State# RealWorld -> (# State# RealWorld #)

foreign import prim "cst_stack_resume_kept"
  resumeKept# :: Addr# -> State# RealWorld -> (# State# RealWorld #)

resumeReleased :: Addr# -> IO ()
resumeReleased side = IO $ \s -> case resumeReleased# side s of (# s' #) -> (# s', () #)

resumeKept :: Addr# -> IO ()
resumeKept side = do
  pokeByteOff (Ptr side) stateAt (0 :: Word8)
  IO $ \s -> case resumeKept# side s of (# s' #) -> (# s', () #)

-- A request of C in place of a callback: to release the Capability.
foreign import ccall "&cst_coroutine_release" release :: Ptr Callback

-- | The action that a coroutine runs, as a pointer for C.
serverAction :: IO (StablePtr (Ptr Side -> IO ()))
serverAction = newStablePtr serve

-- | Answers requests until none is left. An exception ends the inner loop, and a new one begins. So
-- a call that does not throw does not pay for a handler.
--
-- C runs under the handler, or with exceptions masked. Otherwise an exception that is thrown to
-- this thread meanwhile would leave no stack for the return into Haskell, and GHC would crash.
serve :: Ptr Side -> IO ()
serve (Ptr side) = mask rounds
  where
    !call = Ptr side `plusPtr` callAt
    rounds :: (forall a. IO a -> IO a) -> IO ()
    rounds restore = do
      outcome <- try (restore (underUpdate answer))
      case outcome of
        Right () -> pure ()
        Left e -> do
          request <- asked
          unless (request == nullPtr) $ do
            unless (request == release) $ targetOf request >>= \target -> targetFailed target e
            more <- lasts
            if more then resumeReleased side >> rounds restore else finish

    answer = do
      request <- asked
      if request == nullPtr
        then pure ()
        else
          if request == release
            then resumeReleased side >> answer
            else do
              Target run _ resume <- targetOf request
              run call
              more <- lasts
              if more then goOn resume >> answer else finish

    goOn Released = resumeReleased side
    goOn Kept = resumeKept side

    asked = peekByteOff (Ptr side) callbackAt
    lasts = (/= 0) <$> (peekByteOff (Ptr side) lastingAt :: IO Word8)
    finish = pokeByteOff (Ptr side) callbackAt (nullPtr :: Ptr Callback)

-- | Runs the action as the value of a thunk. At every safe call GHC walks down the thread's stack,
-- to the first update frame that it has seen before. Here this is the next frame, which saves a
-- fifth of the call's cost. The thunk goes through a variable, because the compiler would remove it
-- otherwise.
underUpdate :: IO () -> IO ()
underUpdate action = newIORef (unsafeDupablePerformIO action) >>= readIORef >>= evaluate

-- Offsets in @struct cst_coroutine@ and @struct cst_callback@, which coroutine.c asserts.
callbackAt, callAt, lastingAt, stateAt, targetAt :: Int
callbackAt = 56
callAt = 64
lastingAt = 72
stateAt = 73
targetAt = 8

targetOf :: Ptr Callback -> IO Target
targetOf request = do
  pointer <- peekByteOff request targetAt :: IO (Ptr ())
  deRefStablePtr (castPtrToStablePtr pointer)
