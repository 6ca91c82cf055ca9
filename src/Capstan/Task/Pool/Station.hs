-- |
-- Module      : Capstan.Task.Pool.Station
-- Description : Pools, and how their scouts are woken
--
-- A pool has a station for each Capability. At a station
--
-- * the /scout/ looks for tasks, and sleeps when there are none ("Capstan.Task.Pool.Scout" has its states);
-- * /workers/ run the tasks that were found ("Capstan.Task.Pool.Workers");
-- * the /alarm/ is a thread that wakes the scout when the Capability idles.
--
-- This module says what a pool and a station are, and has every way in which threads other than the scout change the scout's
-- state. "Capstan.Task.Pool" has what scouts and workers do, and why no task is forgotten.
--
-- == On call
--
-- A thread that pushes and goes on computing needs no scout on its own Capability: others take what it has pushed. A scout that
-- is awake would have its turn at the end of each slice, which costs a bound thread two switches of the system's threads, and GHC
-- would move one of the two elsewhere. So a push leaves a sleeping scout /on call/. The scout is then woken by whichever comes first:
--
-- * a thread on that Capability waits for tasks ('makeWay');
-- * the Capability runs no Haskell any more, which "Capstan.Task.Pool.Idle" notices within milliseconds;
-- * a fifth of a second has passed, which is about how long a scout that is awake would let another thread compute.
--
-- The last two are told to the alarm. It is a thread that is there for good: a new one would itself have to be run, on the
-- Capability that is not to be disturbed. Only threads of that Capability put its scout on call, or have the alarm told when the
-- Capability idles. The alarm first writes that nothing is awaited, and rings then; so a scout that is put on call after
-- that is woken by the next alarm.
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

import Capstan.Prim (capabilityNumber)
import Capstan.Task.Pool.Idle (tellWhenIdle)
import Capstan.Task.Pool.Process
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Workers
import Capstan.Task.Work.Counters (Counters)
import Capstan.Task.Work.Deque
import Control.Concurrent
import Control.Exception (uninterruptibleMask_)
import Control.Monad
import Data.IORef
import qualified Data.Vector as V
import Foreign.StablePtr (StablePtr)

-- | Workers, with the deques that they serve.
data Pool = Pool
  { -- | Its name; empty for the pool of all Capabilities.
    poolName :: !String,
    -- | How many tasks run at once; 0 for as many as there are Capabilities.
    poolLimit :: !Int,
    deques :: !Deques,
    flags :: !Flags,
    uncounted :: !Counters,
    stations :: !(V.Vector Station),
    -- | Blocks of tasks for which no ring had room.
    spilled :: !(IORef [[Entry]]),
    ended :: !(IORef Bool),
    process :: !Process,
    -- | Keeps the pool, and so the scouts that sleep, from the collector. It would tell them that they are
    -- blocked for ever, whenever it finds that all threads that use the pool are.
    root :: !(IORef (Maybe (StablePtr Pool)))
  }

instance Eq Pool where
  one == other = ended one == ended other

instance Show Pool where
  showsPrec n pool
    | null (poolName pool) = showString "defaultPool"
    | otherwise = showParen (n > 10) (showString "Pool " . shows (poolName pool))

-- | The place of a scout. How it is stands beside the deque of the same number ('scoutOf').
data Station = Station
  { number :: !Int,
    bell :: !(MVar ()),
    -- | Filled when the Capability idles, for the alarm, which rings the bell then.
    idles :: !(MVar ()),
    -- | Whether 'idles' is to be filled.
    awaitsIdle :: !(IORef Bool),
    -- | Whether the alarm has been started.
    hasAlarm :: !(IORef Bool),
    -- | The station's workers that run tasks.
    engaged :: !Workers
  }

-- | How many of its tasks run at once.
poolSize :: Pool -> IO Int
poolSize pool = if poolLimit pool > 0 then pure (poolLimit pool) else getNumCapabilities

-- | The state of the pool's scouts while they are awake.
awake :: Pool -> Scout
awake pool = if poolLimit pool > 0 then Elsewhere else Awake

-- | Sees to it that a sleeping scout is woken when its Capability idles, or after a while. Called uninterruptibly.
putOnCall :: Pool -> Station -> IO ()
putOnCall pool station = do
  won <- changeScout (deques pool) (number station) Asleep OnCall
  when won $ do
    setIdle (deques pool) (flags pool) (number station) False
    ringWhenIdle pool station

-- | Whoever is about to wait on this Capability lets the scout that is on call have it.
makeWay :: Pool -> IO ()
makeWay pool = do
  here <- capabilityNumber
  when (here < V.length (stations pool)) $ do
    now <- scoutOf (deques pool) here
    when (now == OnCall) (void (ring pool here))

-- | Wakes the scout of another Capability than that one, if one idles; else any that sleeps. If all are awake each
-- will look before it sleeps.
wakeOther :: Pool -> Int -> IO ()
wakeOther pool here = do
  idle <- anyM ringIdle others
  unless idle (void (anyM (rouse pool) (others ++ [here])))
  where
    count = V.length (stations pool)
    others = [(here + n) `mod` count | n <- [1 .. count - 1]]
    ringIdle n = isIdle (deques pool) n >>= \idle -> if idle then ring pool n else pure False

-- | Wakes the scout of a station if it sleeps, on call or not; the answer is whether it did.
ring :: Pool -> Int -> IO Bool
ring pool n = rouse pool n >>= \slept -> if slept then pure True else ringFrom OnCall pool n

-- | As 'ring', but leaves one on call to those who will call it.
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

-- | Wakes the scout of a station when its Capability idles, if it sleeps then; or after a while.
ringWhenIdle :: Pool -> Station -> IO ()
ringWhenIdle pool station = do
  known <- readIORef (awaitsIdle station)
  have <- getNumCapabilities
  unless known $ do
    writeIORef (awaitsIdle station) True
    -- A small pool's threads are where 'forkOn' puts them. The scout of a Capability that is not in use any more is called at once, to leave.
    tellWhenIdle (if poolLimit pool > 0 then number station `mod` have else number station) 200 (idles station)

-- | Starts the alarm of a station, if there is none. Called by the scout.
startAlarm :: Pool -> Station -> IO ()
startAlarm pool station = do
  there <- readIORef (hasAlarm station)
  unless there $ do
    writeIORef (hasAlarm station) True
    void . forkOn (number station) . forever $ do
      takeMVar (idles station)
      writeIORef (awaitsIdle station) False
      ring pool (number station)

anyM :: (a -> IO Bool) -> [a] -> IO Bool
anyM test = foldr (\x rest -> test x >>= \yes -> if yes then pure True else rest) (pure False)
