-- |
-- Module      : Capstan.Task.Loop.State
-- Description : States that workers reuse: buffers, generators, partial results
--
-- Free states are in a list that changes by compare-and-swap. A body takes the first free state, or
-- makes a state, and puts it back afterwards. The list is evaluated at all times. If one body
-- evaluated it while others wait ('Data.IORef.atomicModifyIORef'), their workers would count as
-- blocked. Each of these would be replaced, by a worker that needs a further state.
module Capstan.Task.Loop.State
  ( WorkerStates,
    newWorkerStates,
    withWorkerState,
    workerStates,
  )
where

import Capstan.Domain (AtomicRef, compareAndSet, modifyAtomic, newAtomic, readAtomic)

-- | A set of states. One body at a time uses a state, and later bodies use it again.
data WorkerStates s = WorkerStates (IO s) !(AtomicRef [s])

-- | An empty set of states. The action makes a state when a body needs one and all states are in
-- use. So the set has as many states as bodies were under way at the same time. If no body blocks,
-- this is about the number of Capabilities. A body that blocks, or whose thread waits for its next
-- time slice, keeps its state. One loop has at most 16 bodies under way for each Capability, or for
-- each worker of its pool. Containers ('Capstan.Task.parFor_') and tasks have no such bound.
--
-- > buffers <- newWorkerStates (Vector.new 4096)
newWorkerStates :: IO s -> IO (WorkerStates s)
newWorkerStates make = WorkerStates make <$> newAtomic []

-- | Runs a body with a state that no other body uses meanwhile. Earlier bodies may have changed the
-- state, so its contents depend on the schedule. If a body throws, its state is not used again.
-- Tasks, branches and loops of any kind may call this. Costs some ten nanoseconds.
--
-- > parFor pages $ \page -> withWorkerState buffers (\buffer -> render buffer page)
withWorkerState :: WorkerStates s -> (s -> IO a) -> IO a
withWorkerState (WorkerStates make free) body = do
  state <- takeFree free >>= maybe make pure
  result <- body state
  result <$ modifyAtomic free (state :)

-- | Takes the first state of a list, if there is one. A list that has changed meanwhile is another
-- object, even if it has the same states.
takeFree :: AtomicRef [s] -> IO (Maybe s)
takeFree free = readAtomic free >>= attempt
  where
    attempt [] = pure Nothing
    attempt states@(state : rest) = do
      won <- compareAndSet free states rest
      if won then pure (Just state) else takeFree free

-- | All free states, in an unspecified order. After a loop, these hold the values that the loop has
-- gathered.
--
-- > counts <- newWorkerStates (newIORef 0)
-- > parallelFor (range 0 n) $ \i -> withWorkerState counts (\count -> when (odd (f i)) (modifyIORef' count (+ 1)))
-- > total <- workerStates counts >>= fmap sum . mapM readIORef
workerStates :: WorkerStates s -> IO [s]
workerStates (WorkerStates _ free) = readAtomic free
