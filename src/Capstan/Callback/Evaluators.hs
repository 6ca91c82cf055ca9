{-# LANGUAGE ForeignFunctionInterface #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE TupleSections #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Callback.Evaluators
-- Description : The threads that evaluate a callback, so that they can be interrupted
--
-- A Haskell thread evaluates all callbacks of an OS thread, so it outlives each evaluation. An
-- exception that is meant for one evaluation must arrive within that evaluation:
--
-- * E1. The evaluating thread first writes that it evaluates, and then checks whether the callback
--   is interrupted.
-- * E2. The interrupting thread first writes that the callback is interrupted. Then it changes the
--   state of each evaluating thread, and throws to it.
-- * E3. A thread whose state was changed does not leave its evaluation before the exception has
--   arrived.
--
-- E1 and E2 are each a store and a load with a barrier in between, so at least one of the two
-- threads sees the other's store. By E3 no exception arrives late.
module Capstan.Callback.Evaluators
  ( Evaluators,
    newEvaluators,
    evaluating,
    interruptEvaluators,
  )
where

import Control.Concurrent
import Control.Exception
import Control.Monad (forM_, when)
import Data.IORef
import Data.IntMap.Strict (IntMap)
import qualified Data.IntMap.Strict as IntMap
import Data.Maybe (isNothing)
import Foreign.C.Types (CLong (..))
import GHC.Conc (ThreadId (..))
import GHC.Exts (ThreadId#)
import System.Mem.Weak (Weak, deRefWeak)

-- | The evaluating threads of one function pointer.
data Evaluators = Evaluators
  { interruption :: !(IORef (Maybe SomeException)),
    known :: !(IORef Known)
  }

-- | The evaluating threads by their numbers, which GHC never reuses. The 'Int' counts the threads
-- that were added since ended threads were last removed.
data Known = Known !Int !(IntMap Evaluator)

-- | An evaluating thread. The reference is weak: GHC can still tell the thread that it waits for
-- ever.
data Evaluator = Evaluator !(Weak ThreadId) !(IORef State)

data State
  = Idle
  | Evaluating
  | -- | An exception is on its way; the 'MVar' is filled when it has arrived.
    Interrupted !(MVar ())

newEvaluators :: IO Evaluators
newEvaluators = Evaluators <$> newIORef Nothing <*> newIORef (Known 0 IntMap.empty)

-- | Evaluates a call so that it can be interrupted. Costs some 50 ns, and 1 µs for a thread's first
-- call.
evaluating :: Evaluators -> IO () -> IO ()
evaluating evaluators action = do
  state <- myThreadId >>= stateOf evaluators
  mask $ \restore -> do
    atomicWriteIORef state Evaluating -- E1
    interrupted <- readIORef (interruption evaluators)
    restore (maybe action throwIO interrupted) `onException` leave state
    leave state

-- | Implements E3. The exception may arrive while the thread waits.
leave :: IORef State -> IO ()
leave state = do
  before <- atomicModifyIORef' state (Idle,)
  case before of
    Interrupted taken -> readMVar taken
    _ -> pure ()

stateOf :: Evaluators -> ThreadId -> IO (IORef State)
stateOf evaluators thread@(ThreadId thread#) = do
  number <- fromIntegral <$> threadNumber thread#
  Known _ threads <- readIORef (known evaluators)
  case IntMap.lookup number threads of
    Just (Evaluator _ state) -> pure state
    Nothing -> do
      state <- newIORef Idle
      new <- Evaluator <$> mkWeakThreadId thread <*> pure state
      count <- atomicModifyIORef' (known evaluators) $ \(Known n others) ->
        (Known (n + 1) (IntMap.insert number new others), n + 1)
      -- The threads of a region end with it, so the table would grow without limit.
      when (count >= 64) (forgetEnded evaluators)
      pure state

forgetEnded :: Evaluators -> IO ()
forgetEnded evaluators = do
  Known _ threads <- readIORef (known evaluators)
  ended <- traverse (\(Evaluator weak _) -> isNothing <$> deRefWeak weak) threads
  atomicModifyIORef' (known evaluators) $ \(Known _ now) -> (Known 0 (now IntMap.\\ IntMap.filter id ended), ())

foreign import ccall unsafe "rts_getThreadId" threadNumber :: ThreadId# -> IO CLong

-- | Throws the exception to all threads that evaluate the callback, and to all threads that begin
-- to evaluate it later. Does not wait for them.
interruptEvaluators :: Evaluators -> SomeException -> IO ()
interruptEvaluators evaluators exception = do
  atomicWriteIORef (interruption evaluators) (Just exception) -- E2
  Known _ threads <- readIORef (known evaluators)
  forM_ threads $ \(Evaluator weak state) -> do
    taken <- newEmptyMVar
    chosen <- atomicModifyIORef' state $ \s -> case s of
      Evaluating -> (Interrupted taken, True)
      _ -> (s, False)
    -- Another thread throws, for 'throwTo' waits while the callback masks exceptions or is in C.
    when chosen . (() <$) . forkIO $ do
      thread <- deRefWeak weak
      forM_ thread (`throwTo` exception)
      putMVar taken ()
