{-# LANGUAGE LambdaCase #-}

-- |
-- Module      : Capstan.Task.Loop.State
-- Description : States that workers reuse: buffers, generators, partial results
--
-- The states that nobody uses are a list that changes by compare-and-swap. A body takes the first, or makes one, and puts it back.
module Capstan.Task.Loop.State
  ( WorkerStates,
    newWorkerStates,
    withWorkerState,
    workerStates,
  )
where

import Data.IORef

-- | States of which each is used by one body at a time, and by one after another.
data WorkerStates s = WorkerStates (IO s) !(IORef [s])

-- | No states yet: the action makes one when a body needs it and all others are in use. So there are as many as bodies run at once, which is
-- the number of Capabilities where no body blocks.
--
-- > buffers <- newWorkerStates (Vector.new 4096)
newWorkerStates :: IO s -> IO (WorkerStates s)
newWorkerStates make = WorkerStates make <$> newIORef []

-- | Runs a body with a state that nobody else uses meanwhile. Its contents depend on the schedule: earlier bodies leave them. The state of a
-- body that throws is not used again. May be called in tasks, branches and loops of any kind. Costs some ten nanoseconds.
--
-- > parFor pages $ \page -> withWorkerState buffers (\buffer -> render buffer page)
withWorkerState :: WorkerStates s -> (s -> IO a) -> IO a
withWorkerState (WorkerStates make free) body = do
  found <- atomicModifyIORef' free $ \case
    [] -> ([], Nothing)
    state : rest -> (rest, Just state)
  state <- maybe make pure found
  result <- body state
  atomicModifyIORef' free (\states -> (state : states, ()))
  pure result

-- | All states that nobody uses, in no order that could be relied on: for what loops have gathered, when they are over.
--
-- > counts <- newWorkerStates (newIORef 0)
-- > parallelFor (range 0 n) $ \i -> withWorkerState counts (\count -> when (odd (f i)) (modifyIORef' count (+ 1)))
-- > total <- workerStates counts >>= fmap sum . mapM readIORef
workerStates :: WorkerStates s -> IO [s]
workerStates (WorkerStates _ free) = readIORef free
