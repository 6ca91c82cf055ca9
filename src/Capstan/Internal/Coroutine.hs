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
-- stack (@runtime\/substrate\/rts\/coroutine.c@). To evaluate a callback is to return from one of
-- the foreign calls below; the next one lets C go on.
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

-- | How C goes on after a callback.
data Resume
  = -- | As in a safe foreign call: the Capability is free meanwhile.
    Released
  | -- | With the Capability.
    Kept

-- | What a callback does.
data Target = Target
  { -- | Evaluates the call that the pointer's target points to, from its arguments to its result. It is always the
    -- same pointer, so that a call allocates none.
    targetRun :: Ptr (Ptr Call) -> IO (),
    -- | Takes the exception with which it ended instead. Does not throw.
    targetFailed :: SomeException -> IO (),
    targetResume :: !Resume
  }

-- In cmm/coroutine.cmm, and the other in stack.S. Jumps, not calls: see cst_stack_switch in
-- runtime/platform/stack.h.
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

-- What C asks for instead of a callback: that the Capability be released.
foreign import ccall "&cst_coroutine_release" release :: Ptr Callback

-- | What a coroutine runs, for C to keep.
serverAction :: IO (StablePtr (Ptr Side -> IO ()))
serverAction = newStablePtr serve

-- | Answers requests until there is none. An exception ends the loop, which is begun anew, so that
-- a call without one pays for no handler.
--
-- C goes on under the handler, or masked. Without either, an exception that was thrown to this thread
-- meanwhile would leave no stack for the return into Haskell, which GHC does not survive.
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

-- | Runs the action as the value of a thunk. At every safe call GHC walks down the thread's stack, to the
-- first update frame that it has seen before. Here that is the next one: a fifth of the call's cost
-- is saved. Through a variable, or the compiler would make no thunk.
underUpdate :: IO () -> IO ()
underUpdate action = newIORef (unsafeDupablePerformIO action) >>= readIORef >>= evaluate

-- Offsets in @struct cst_coroutine@ and @struct cst_callback@; coroutine.c asserts them.
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
