{-# LANGUAGE CPP #-}
{-# LANGUAGE PatternSynonyms #-}
-- The states have the numbers by which cmm/task.cmm knows them.
{-# OPTIONS_GHC -optP-imacros -optPhaskell/task_layout.h #-}

-- |
-- Module      : Capstan.Task.Pool.Scout
-- Description : How the scouts of a pool stand, and how many workers search
--
-- The state of a scout is one word beside the deque of its station:
--
-- >            appointed                    sleeps
-- > Absent ---------------> Awake or   ---------------> Asleep ---+
-- >   ^                     Elsewhere                      |      |
-- >   |                     |   ^  ^                       |      | a push whose thread
-- >   +---------------------+   |  |      the bell rings   |      | goes on computing
-- >     leaves its station      |  +-----------------------+      |
-- >     (also from Asleep,      |                                 v
-- >     when the pool ends)     +------------------------------ OnCall
-- >                                  the bell rings: a thread waits for tasks,
-- >                                  the Capability idles, or time is up
--
-- A scout itself writes 'Asleep' and 'Absent' over a state in which it is awake. All other changes are by compare-and-swap, and
-- the thread that wins one has to do the rest: to start the scout, to ring its bell, or to have it woken later.
module Capstan.Task.Pool.Scout
  ( Scout (Awake, OnCall, Asleep, Absent, Elsewhere),
    setScout,
    changeScout,
    scoutOf,
    setIdle,
    isIdle,
    addSearching,
    anySearches,
    addEngaged,
    engagedWorkers,
  )
where

import Capstan.Task.Work.Layout
import Control.Monad (when)

-- | The state of the scout of a station ("Capstan.Task.Pool"). A push wakes nobody where the scout is awake or on call.
newtype Scout = Scout Int
  deriving (Eq)

-- | On its Capability, looking for tasks.
pattern Awake :: Scout
pattern Awake = Scout SCOUT_AWAKE

-- | Asleep, and woken when the Capability idles, or soon anyway ("Capstan.Task.Pool.Station").
pattern OnCall :: Scout
pattern OnCall = Scout SCOUT_ON_CALL

-- | Waiting for its bell.
pattern Asleep :: Scout
pattern Asleep = Scout SCOUT_ASLEEP

-- | The station has none.
pattern Absent :: Scout
pattern Absent = Scout SCOUT_ABSENT

-- | Awake, in a small pool, whose scouts are not bound to the deque of their number.
pattern Elsewhere :: Scout
pattern Elsewhere = Scout SCOUT_ELSEWHERE

{-# COMPLETE Awake, OnCall, Asleep, Absent, Elsewhere #-}

-- | Writes the state of a scout; for the scout itself.
setScout :: Deques -> Int -> Scout -> IO ()
setScout deques n (Scout scout) = do
  state <- stateOf deques n
  writeWord state STATE_SCOUT scout

-- | The scout's current state.
scoutOf :: Deques -> Int -> IO Scout
scoutOf deques n = Scout <$> (stateOf deques n >>= (`readWord` STATE_SCOUT))

-- | Changes the state from one to another, if it is the one. The answer is whether it was.
changeScout :: Deques -> Int -> Scout -> Scout -> IO Bool
changeScout deques n from@(Scout old) (Scout new) = do
  now <- scoutOf deques n
  if now /= from
    then pure False
    else stateOf deques n >>= \state -> swapWord state STATE_SCOUT old new

-- | Says whether a Capability idles with its scout asleep. Only the scout says so, while it is awake; a thread that has
-- changed it from asleep to awake takes that back.
setIdle :: Deques -> Flags -> Int -> Bool -> IO ()
setIdle deques (Flags flags) n idle = do
  was <- isIdle deques n
  when (was /= idle) $ do
    state <- stateOf deques n
    writeWord state STATE_IDLE (fromEnum idle)
    addWord flags FLAGS_IDLE (if idle then 1 else -1)

-- | Whether this Capability idles with its scout asleep.
isIdle :: Deques -> Int -> IO Bool
isIdle deques n = (/= 0) <$> (stateOf deques n >>= (`readWord` STATE_IDLE))

-- | Changes the number of workers that look for work.
addSearching :: Flags -> Int -> IO ()
addSearching (Flags flags) = addWord flags FLAGS_SEARCHING

-- | Whether some worker looks for work.
anySearches :: Flags -> IO Bool
anySearches (Flags flags) = (/= 0) <$> readWord flags FLAGS_SEARCHING
{-# INLINE anySearches #-}

-- | Changes the number of workers that have a task.
addEngaged :: Flags -> Int -> IO ()
addEngaged (Flags flags) = addWord flags FLAGS_ENGAGED

-- | How many workers have a task.
engagedWorkers :: Flags -> IO Int
engagedWorkers (Flags flags) = readWord flags FLAGS_ENGAGED
