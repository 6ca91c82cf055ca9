{-# LANGUAGE LambdaCase #-}

-- |
-- Module      : Capstan.Task.Loop.State
-- Description : States that workers reuse: buffers, generators, partial results
--
-- Free states are in a list that changes by compare-and-swap. A body takes the first free state, or
-- makes a state, and puts it back afterwards.
module Capstan.Task.Loop.State
  ( WorkerStates,
    newWorkerStates,
    withWorkerState,
    workerStates,
  )
where

import Data.IORef

-- | A set of states. One body at a time uses a state, and later bodies use it again.
data WorkerStates s = WorkerStates (IO s) !(IORef [s])

-- | An empty set of states. The action makes a state when a body needs one and all states are in
-- use. So the set has as many states as bodies run at the same time. This is the number of
-- Capabilities if no body blocks.
--
-- > buffers <- newWorkerStates (Vector.new 4096)
newWorkerStates :: IO s -> IO (WorkerStates s)
newWorkerStates make = WorkerStates make <$> newIORef []

-- | Runs a body with a state that no other body uses meanwhile. Earlier bodies may have changed the
-- state, so its contents depend on the schedule. If a body throws, its state is not used again.
-- Tasks, branches and loops of any kind may call this. Costs some ten nanoseconds.
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

-- | All free states, in an unspecified order. After a loop, these hold the values that the loop has
-- gathered.
--
-- > counts <- newWorkerStates (newIORef 0)
-- > parallelFor (range 0 n) $ \i -> withWorkerState counts (\count -> when (odd (f i)) (modifyIORef' count (+ 1)))
-- > total <- workerStates counts >>= fmap sum . mapM readIORef
workerStates :: WorkerStates s -> IO [s]
workerStates (WorkerStates _ free) = readIORef free
