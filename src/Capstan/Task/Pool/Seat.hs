-- |
-- Module      : Capstan.Task.Pool.Seat
-- Description : Pools, and how their scouts are woken
--
-- What a pool is, what a seat is, and all ways in which who is not the scout changes how the scout stands; "Capstan.Task.Pool" has what scouts
-- do, and why no task is forgotten.
--
-- == On call
--
-- A thread that pushes and goes on computing needs no scout on its own Capability: others take what it has pushed. One that is awake would have
-- its turn at the end of each slice, which for a bound thread are two switches of the system's threads, and GHC would move one of the two
-- elsewhere. So a push leaves a sleeping scout /on call/, and it is woken when it is needed: by who waits on that Capability for tasks
-- ('makeWay'); when the Capability runs no Haskell any more ("Capstan.Task.Pool.Idle"), which is noticed within milliseconds; and
-- after a fifth of a second in any case, about when a scout that is awake would not be polite any more.
--
-- What is told of the Capability is told to the seat's caller, a thread that is there for good: a new one would itself have to be run, on the
-- Capability that is not to be disturbed. Only threads of that Capability put its scout on call or let it be called when it idles, and the
-- caller says first that nothing is awaited, and rings then; so a scout that is put on call after that is called again.
module Capstan.Task.Pool.Seat
  ( Pool (..),
    Seat (..),
    poolSize,
    awake,
    putOnCall,
    makeWay,
    wakeOther,
    ring,
    ringWhenIdle,
    startCaller,
    anyM,
  )
where

import Capstan.Prim (capabilityNumber)
import Capstan.Task.Pool.Idle (tellWhenIdle)
import Capstan.Task.Pool.Process
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
    seats :: !(V.Vector Seat),
    -- | Blocks of tasks for which no ring had room.
    spilled :: !(IORef [[Entry]]),
    ended :: !(IORef Bool),
    process :: !Process,
    -- | Keeps the pool, and so the scouts that sleep, from the collector. It would tell them that they are
    -- blocked for ever, whenever it finds that all threads that use the pool are.
    root :: !(IORef (Maybe (StablePtr Pool)))
  }

-- | The place of a scout. How it is stands beside the deque of the same number ('scoutOf').
data Seat = Seat
  { number :: !Int,
    bell :: !(MVar ()),
    -- | Filled when the Capability idles, for the seat's caller, which rings then.
    idles :: !(MVar ()),
    -- | Whether it is to be filled.
    awaitsIdle :: !(IORef Bool),
    -- | Whether there is a caller: a thread that is there for good, as to start one takes the Capability.
    hasCaller :: !(IORef Bool),
    -- | The seat's workers that run tasks.
    engaged :: !Workers
  }

-- | How many of its tasks run at once.
poolSize :: Pool -> IO Int
poolSize pool = if poolLimit pool > 0 then pure (poolLimit pool) else getNumCapabilities

-- | How a scout of the pool is while it is awake.
awake :: Pool -> Scout
awake pool = if poolLimit pool > 0 then Elsewhere else Awake

-- | Sees to it that a sleeping scout is woken when its Capability idles, or after a while. The caller is uninterruptible.
putOnCall :: Pool -> Seat -> IO ()
putOnCall pool seat = do
  won <- changeScout (deques pool) (number seat) Asleep OnCall
  when won $ do
    setIdle (deques pool) (flags pool) (number seat) False
    ringWhenIdle pool seat

-- | Whoever is about to wait on this Capability lets the scout that is on call have it.
makeWay :: Pool -> IO ()
makeWay pool = do
  here <- capabilityNumber
  when (here < V.length (seats pool)) $ do
    now <- scoutOf (deques pool) here
    when (now == OnCall) (void (ring pool here))

-- | Wakes the scout of another Capability than that one, if one idles; else any that sleeps. If all are awake each
-- will look before it sleeps.
wakeOther :: Pool -> Int -> IO ()
wakeOther pool here = do
  idle <- anyM ringIdle others
  unless idle (void (anyM (rouse pool) (others ++ [here])))
  where
    count = V.length (seats pool)
    others = [(here + n) `mod` count | n <- [1 .. count - 1]]
    ringIdle n = isIdle (deques pool) n >>= \idle -> if idle then ring pool n else pure False

-- | Wakes the scout of a seat if it sleeps, on call or not; the answer is whether it did.
ring :: Pool -> Int -> IO Bool
ring pool n = rouse pool n >>= \slept -> if slept then pure True else ringFrom OnCall pool n

-- | As 'ring', but leaves one on call to those who will call it.
rouse :: Pool -> Int -> IO Bool
rouse = ringFrom Asleep

ringFrom :: Scout -> Pool -> Int -> IO Bool
ringFrom from pool n
  | n >= V.length (seats pool) = pure False
  | otherwise = uninterruptibleMask_ $ do
    won <- changeScout (deques pool) n from (awake pool)
    when won $ do
      setIdle (deques pool) (flags pool) n False
      putMVar (bell (seats pool V.! n)) ()
    pure won

-- | Wakes the scout of a seat when its Capability idles, if it sleeps then; or after a while.
ringWhenIdle :: Pool -> Seat -> IO ()
ringWhenIdle pool seat = do
  known <- readIORef (awaitsIdle seat)
  have <- getNumCapabilities
  unless known $ do
    writeIORef (awaitsIdle seat) True
    -- A small pool's threads are where 'forkOn' puts them. The scout of a Capability that is not in use any more is called at once, to leave.
    tellWhenIdle (if poolLimit pool > 0 then number seat `mod` have else number seat) 200 (idles seat)

-- | Starts the caller of a seat, if there is none. For its scout.
startCaller :: Pool -> Seat -> IO ()
startCaller pool seat = do
  there <- readIORef (hasCaller seat)
  unless there $ do
    writeIORef (hasCaller seat) True
    void . forkOn (number seat) . forever $ do
      takeMVar (idles seat)
      writeIORef (awaitsIdle seat) False
      ring pool (number seat)

anyM :: (a -> IO Bool) -> [a] -> IO Bool
anyM test = foldr (\x rest -> test x >>= \yes -> if yes then pure True else rest) (pure False)
