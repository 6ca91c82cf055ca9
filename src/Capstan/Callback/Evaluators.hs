{-# LANGUAGE ForeignFunctionInterface #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE TupleSections #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Callback.Evaluators
-- Description : The threads that evaluate a callback, so that they can be interrupted
--
-- The Haskell thread that evaluates an OS thread's callbacks lives longer than one of them, and serves
-- other callbacks as well. So an exception that is meant for one evaluation must arrive within it:
--
-- * E1. The evaluating thread writes that it evaluates, and then looks whether it is interrupted.
-- * E2. Who interrupts writes that down first, then changes the state of each that evaluates, and throws.
-- * E3. A thread whose state has been changed does not leave its evaluation before the exception was
--   taken.
--
-- E1 and E2 each are a store and a load with a barrier in between, so one of the two sees the other. By
-- E3 no exception comes late.
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

-- | Of one function pointer.
data Evaluators = Evaluators
  { interruption :: !(IORef (Maybe SomeException)),
    known :: !(IORef Known)
  }

-- | By the threads' numbers, which are never used again; and how many came since some were forgotten.
data Known = Known !Int !(IntMap Evaluator)

-- | A thread, which this does not keep alive: one that waits for ever is to be told so.
data Evaluator = Evaluator !(Weak ThreadId) !(IORef State)

data State
  = Idle
  | Evaluating
  | -- | An exception is on its way; filled when it was taken.
    Interrupted !(MVar ())

newEvaluators :: IO Evaluators
newEvaluators = Evaluators <$> newIORef Nothing <*> newIORef (Known 0 IntMap.empty)

-- | Evaluates a call, so that it can be interrupted. Costs some 50 ns, and for the first one of a thread
-- 1 µs.
evaluating :: Evaluators -> IO () -> IO ()
evaluating evaluators action = do
  state <- myThreadId >>= stateOf evaluators
  mask $ \restore -> do
    atomicWriteIORef state Evaluating -- E1
    interrupted <- readIORef (interruption evaluators)
    restore (maybe action throwIO interrupted) `onException` leave state
    leave state

-- | E3. Waiting, the exception may come.
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
      -- Each region has new threads.
      when (count >= 64) (forgetEnded evaluators)
      pure state

forgetEnded :: Evaluators -> IO ()
forgetEnded evaluators = do
  Known _ threads <- readIORef (known evaluators)
  ended <- traverse (\(Evaluator weak _) -> isNothing <$> deRefWeak weak) threads
  atomicModifyIORef' (known evaluators) $ \(Known _ now) -> (Known 0 (now IntMap.\\ IntMap.filter id ended), ())

foreign import ccall unsafe "rts_getThreadId" threadNumber :: ThreadId# -> IO CLong

-- | Throws the exception to all who evaluate, and to all who begin later. Does not wait for them.
interruptEvaluators :: Evaluators -> SomeException -> IO ()
interruptEvaluators evaluators exception = do
  atomicWriteIORef (interruption evaluators) (Just exception) -- E2
  Known _ threads <- readIORef (known evaluators)
  forM_ threads $ \(Evaluator weak state) -> do
    taken <- newEmptyMVar
    chosen <- atomicModifyIORef' state $ \s -> case s of
      Evaluating -> (Interrupted taken, True)
      _ -> (s, False)
    -- By another thread, for it waits as long as the callback masks exceptions, or is in C.
    when chosen . (() <$) . forkIO $ do
      thread <- deRefWeak weak
      forM_ thread (`throwTo` exception)
      putMVar taken ()
