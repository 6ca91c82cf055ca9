{-# LANGUAGE RecordWildCards #-}
{-# LANGUAGE TupleSections #-}

-- |
-- Module      : Capstan.Task.Pool
-- Description : Pools of workers, and why they forget no task
--
-- A pool has a deque for each Capability, and a /station/ on each Capability that is in use. A
-- station has one /scout/, a green thread that stays on the Capability and looks for tasks. The
-- scout sleeps when there are no tasks, and no other thread of the station sleeps. When it finds a
-- task, it appoints another thread as its successor. Then it runs that task and further tasks that
-- it finds, and ends. So when a task blocks its worker (in an 'MVar', in STM, in a foreign call),
-- the new scout goes on.
--
-- A scout is polite. It lets a thread of the program that computes on its Capability have its time
-- slice, up to ten times. It lets a thread that runs a task keep the Capability while the task
-- computes. So a Capability is not shared while another worker can take the task.
--
-- A worker is locked to its Capability. But once the scout has found it blocked, in an 'MVar' or in
-- STM, GHC may move it to a Capability that idles. Otherwise all tasks that one station has begun,
-- and that are woken at the same time, would share one Capability. A worker that has moved ends with
-- its task.
--
-- A worker that blocks is replaced, because it may wait for a task in a deque. But several workers
-- may wait for values that other threads compute, for example when all tasks change one reference.
-- Then the station takes only one task in a millisecond until these workers go on. Each further
-- task would make the line of waiting workers longer, and the value passes along this line from
-- Capability to Capability.
--
-- == Why no task is forgotten
--
-- The scout's state is one word, 'Scout', that changes by compare-and-swap. The thread that swaps
-- it from asleep to awake rings the bell, once, and the scout takes that ring, once. No thread ever
-- waits for a lock here.
--
-- (P1) If a deque has entries, its scout is awake, or a thread is about to wake it, as when it is
-- on call ("Capstan.Task.Pool.Station"). If the scout is not awake, a push is refused, unless the
-- caller has promised to wake the scout. The caller keeps the promise uninterruptibly, for the
-- station of the push, even if GHC has moved the caller meanwhile. The scout first writes that it
-- sleeps, and then looks at its deque, including the private part. The push and the scout's steps
-- happen on one Capability, so one of them sees the other.
--
-- (P2) Between Capabilities: a thread publishes tasks by an atomic operation, and looks for
-- sleepers afterwards. A scout writes by an atomic operation that it sleeps, and looks at the
-- public parts afterwards. One of them sees the other.
--
-- (P3) A scout leaves its station when it finds that it is no longer on its Capability, or that the
-- Capability is not in use. It writes that the station has no scout, and wakes another scout, or
-- knows by (P2) that the others will look. A scout may find private entries in a deque without a
-- scout. If that Capability is not in use, it publishes the entries ("Capstan.Task.Work.Deque",
-- D5); otherwise it appoints a scout there. So 'Control.Concurrent.setNumCapabilities' leaves no
-- task behind.
--
-- (P4) In the child of a @forkProcess@ the pool begins anew ("Capstan.Task.Pool.Process"). The
-- tasks of the parent's threads belong to the parent, and the child does not run them.
--
-- So a thread that waits for a task need not take any step beforehand. The rest is for speed only.
-- A Capability may compute for long without pushing, while its entries stay private. A scout that
-- finds no other task forks a thread there, which publishes these entries.
--
-- == The modules
--
-- "Capstan.Task.Pool.Push" gives tasks to a pool, and "Capstan.Task.Pool.Find" takes them.
-- "Capstan.Task.Pool.Work" has the threads of a station. "Capstan.Task.Pool.Attend" appoints scouts
-- where they are missing. This module makes and ends pools.
module Capstan.Task.Pool
  ( Pool (..),
    newPool,
    endPool,
    serveCapabilities,
    spawn,
    spawnValue,
    makeWay,
    poolSize,
    divides,
  )
where

import Capstan.Task.Pool.Attend (serveCapabilities, whoSearch)
import Capstan.Task.Pool.Process
import Capstan.Task.Pool.Push (spawn, spawnValue)
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Station
import Capstan.Task.Pool.Threads
import Capstan.Task.Pool.Work (startScout)
import Capstan.Task.Pool.Workers
import Capstan.Task.Work.Counters (noCounters)
import Capstan.Task.Work.Deque
import Control.Concurrent
import Control.Exception
import Control.Monad (forM_)
import Data.IORef
import qualified Data.Vector as V
import Foreign.StablePtr (freeStablePtr, newStablePtr)
import GHC.Conc (getNumProcessors)

-- | A pool whose workers have not started.
newPool :: String -> Int -> IO Pool
newPool poolName poolLimit = do
  noteTasks
  have <- getNumCapabilities
  processors <- getNumProcessors
  let count = max poolLimit (2 * max have (max processors 4))
  deques <- newDeques count
  flags <- newFlags
  uncounted <- noCounters
  stations <- V.generateM count $ \number -> Station number <$> newEmptyMVar <*> newEmptyMVar <*> newIORef False <*> newIORef False <*> newWorkers (if poolLimit > 0 then Nothing else Just number)
  spilled <- newIORef []
  ended <- newIORef False
  threads <- newThreads
  process <- newProcess
  root <- newIORef Nothing
  let pool = Pool {appoint = startScout pool, ..}
  whoSearch pool
  newStablePtr pool >>= writeIORef root . Just
  pure pool

-- | Asks the runtime to shorten the last pause of the non-moving collector, from now on.
foreign import ccall unsafe "cst_rts_note_tasks"
  noteTasks :: IO ()

-- | Ends a pool, and waits until its threads have ended. A worker first ends its task. If nobody
-- waited, a program that makes pools faster than their threads end would keep all these pools.
endPool :: Pool -> IO ()
endPool pool = do
  atomicWriteIORef (ended pool) True
  forM_ (stations pool) $ \station -> ring pool (number station) >> tryPutMVar (idles station) ()
  awaitNone (threads pool) `finally` (atomicModifyIORef' (root pool) (Nothing,) >>= mapM_ freeStablePtr)

-- | Whether a loop should give away half of its remaining part: another Capability is hungry, and
-- not because the bodies block. A worker that blocks is replaced, for it may wait for another task.
-- But bodies may wait for each other, for a lock or for a value that 'Data.IORef.atomicModifyIORef'
-- has left unevaluated. Then each further worker would only make the line longer.
divides :: Pool -> IO Bool
divides pool = do
  wanted <- hungry (deques pool) (flags pool)
  if not wanted
    then pure False
    else do
      engagedNow <- engagedWorkers (flags pool)
      size <- poolSize pool
      pure (engagedNow < 16 * size)
