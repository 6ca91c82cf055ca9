-- |
-- Module      : Capstan.Task.Pool.Station
-- Description : Pools, and the ways to wake their scouts
--
-- A pool has a station for each Capability. A station has these threads:
--
-- * The /scout/ looks for tasks, and sleeps when there are none. "Capstan.Task.Pool.Scout" has its
--   states.
-- * /Workers/ run the tasks that the scout has found ("Capstan.Task.Pool.Workers").
-- * The /alarm/ wakes the scout when the Capability idles.
--
-- This module defines pools and stations, and has all functions by which threads other than the
-- scout change the scout's state. "Capstan.Task.Pool.Work" has the steps of scouts and workers, and
-- "Capstan.Task.Pool" the reason why no task is forgotten.
--
-- == On call
--
-- A thread that pushes and continues to compute needs no scout on its own Capability: other
-- Capabilities take its tasks. A scout that is awake would run at the end of each slice. This costs
-- a bound thread two switches of OS threads, and GHC would move one of the two threads to another
-- Capability. So a push leaves a sleeping scout /on call/. The first of these events wakes the
-- scout:
--
-- * A thread on that Capability waits for tasks ('makeWay').
-- * The Capability no longer runs Haskell code. "Capstan.Task.Pool.Idle" notices this within
--   milliseconds.
-- * A fifth of a second has passed. This is about the time for which a scout that is awake would
--   let another thread compute.
--
-- The last two events wake the alarm. The alarm is a permanent thread: a new thread would itself
-- have to run first, on the Capability that must not be disturbed. Only threads of that Capability
-- put its scout on call, or ask for a wake of the alarm when the Capability idles. The alarm first
-- writes that no wake is awaited, and then rings. So a scout that is put on call afterwards is
-- woken by the next alarm.
module Capstan.Task.Pool.Station
  ( Pool (..),
    Station (..),
    poolSize,
    awake,
    putOnCall,
    makeWay,
    wakeOther,
    ring,
    ringWhenIdle,
    startAlarm,
    anyM,
  )
where

import Capstan.Capability (capabilityNumber)
import Capstan.Task.Pool.Idle (tellWhenIdle)
import Capstan.Task.Pool.Process
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Threads
import Capstan.Task.Pool.Workers
import Capstan.Task.Work.Counters (Counters)
import Capstan.Task.Work.Deque
import Control.Concurrent
import Control.Exception (uninterruptibleMask_)
import Control.Monad
import Data.IORef
import qualified Data.Vector as V
import Foreign.StablePtr (StablePtr)

-- | A pool of workers, with the deques that they serve.
data Pool = Pool
  { -- | The name of the pool; empty for the pool of all Capabilities.
    poolName :: !String,
    -- | The number of tasks that run at the same time; 0 for the number of Capabilities.
    poolLimit :: !Int,
    deques :: !Deques,
    flags :: !Flags,
    uncounted :: !Counters,
    stations :: !(V.Vector Station),
    -- | Blocks of tasks for which no ring had room.
    spilled :: !(IORef [[Entry]]),
    ended :: !(IORef Bool),
    -- | The pool's own threads: scouts, workers and alarms.
    threads :: !Threads,
    process :: !Process,
    -- | Starts a station's new scout ("Capstan.Task.Pool.Work"). The threads that look for tasks
    -- also appoint scouts, so the pool has this function as a field.
    appoint :: Station -> IO (),
    -- | Keeps the pool alive, and with it the scouts that sleep. Otherwise the collector would
    -- throw to the scouts that they are blocked for ever, as soon as all threads that use the pool
    -- are.
    root :: !(IORef (Maybe (StablePtr Pool)))
  }

instance Eq Pool where
  one == other = ended one == ended other

instance Show Pool where
  showsPrec n pool
    | null (poolName pool) = showString "defaultPool"
    | otherwise = showParen (n > 10) (showString "Pool " . shows (poolName pool))

-- | The station of a scout. The scout's state lies beside the deque with the same number
-- ('scoutOf').
data Station = Station
  { number :: !Int,
    bell :: !(MVar ()),
    -- | Filled when the Capability idles. The alarm waits for it, and then rings the bell.
    idles :: !(MVar ()),
    -- | Whether 'idles' will be filled.
    awaitsIdle :: !(IORef Bool),
    -- | Whether the alarm has been started.
    hasAlarm :: !(IORef Bool),
    -- | The station's workers that run tasks.
    engaged :: !Workers
  }

-- | The number of tasks of a pool that run at the same time.
poolSize :: Pool -> IO Int
poolSize pool = if poolLimit pool > 0 then pure (poolLimit pool) else getNumCapabilities

-- | The state of the pool's scouts while they are awake.
awake :: Pool -> Scout
awake pool = if poolLimit pool > 0 then Elsewhere else Awake

-- | Puts a sleeping scout on call, so that it is woken when its Capability idles, or after a while.
-- The caller is uninterruptible.
putOnCall :: Pool -> Station -> IO ()
putOnCall pool station = do
  won <- changeScout (deques pool) (number station) Asleep OnCall
  when won $ do
    setIdle (deques pool) (flags pool) (number station) False
    ringWhenIdle pool station

-- | Wakes the scout of this Capability if it is on call. A thread calls this when it is about to
-- wait.
makeWay :: Pool -> IO ()
makeWay pool = do
  here <- capabilityNumber
  when (here < V.length (stations pool)) $ do
    now <- scoutOf (deques pool) here
    when (now == OnCall) (void (ring pool here))

-- | Wakes the scout of another Capability that idles, if there is one; else any scout that sleeps.
-- If all scouts are awake, each of them looks again before it sleeps.
wakeOther :: Pool -> Int -> IO ()
wakeOther pool here = do
  idle <- anyM ringIdle others
  unless idle (void (anyM (rouse pool) (others ++ [here])))
  where
    count = V.length (stations pool)
    others = [(here + n) `mod` count | n <- [1 .. count - 1]]
    ringIdle n = isIdle (deques pool) n >>= \idle -> if idle then ring pool n else pure False

-- | Wakes the scout of a station if it sleeps, on call or not. Returns whether the scout slept.
ring :: Pool -> Int -> IO Bool
ring pool n = rouse pool n >>= \slept -> if slept then pure True else ringFrom OnCall pool n

-- | As 'ring', but does not wake a scout on call.
rouse :: Pool -> Int -> IO Bool
rouse = ringFrom Asleep

ringFrom :: Scout -> Pool -> Int -> IO Bool
ringFrom from pool n
  | n >= V.length (stations pool) = pure False
  | otherwise = uninterruptibleMask_ $ do
    won <- changeScout (deques pool) n from (awake pool)
    when won $ do
      setIdle (deques pool) (flags pool) n False
      putMVar (bell (stations pool V.! n)) ()
    pure won

-- | Asks for a wake of the station's alarm when its Capability idles, or after 200 ms. The alarm
-- then wakes the scout if it sleeps.
ringWhenIdle :: Pool -> Station -> IO ()
ringWhenIdle pool station = do
  known <- readIORef (awaitsIdle station)
  have <- getNumCapabilities
  unless known $ do
    writeIORef (awaitsIdle station) True
    -- The threads of a small pool run where 'forkOn' puts them. If a Capability is no longer in
    -- use, its scout is called at once, so that it leaves.
    tellWhenIdle (if poolLimit pool > 0 then number station `mod` have else number station) 200 (idles station)

-- | Starts the alarm of a station, if the station has none. The scout calls this. The alarm ends
-- when it is called after the end of the pool.
startAlarm :: Pool -> Station -> IO ()
startAlarm pool station = do
  there <- readIORef (hasAlarm station)
  unless there $ do
    writeIORef (hasAlarm station) True
    counted (threads pool) (void . forkOn (number station)) alarm
  where
    alarm = do
      takeMVar (idles station)
      writeIORef (awaitsIdle station) False
      _ <- ring pool (number station)
      over <- readIORef (ended pool)
      unless over alarm

anyM :: (a -> IO Bool) -> [a] -> IO Bool
anyM test = foldr (\x rest -> test x >>= \yes -> if yes then pure True else rest) (pure False)
