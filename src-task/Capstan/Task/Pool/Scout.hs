{-# LANGUAGE CPP #-}
{-# LANGUAGE PatternSynonyms #-}
-- The states have the numbers that cmm/task.cmm uses.
{-# OPTIONS_GHC -optP-imacros -optPhaskell/task_layout.h #-}

-- |
-- Module      : Capstan.Task.Pool.Scout
-- Description : The states of a pool's scouts, and the number of workers that search
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
-- A scout itself writes 'Asleep' and 'Absent' over a state in which it is awake. All other changes
-- are by compare-and-swap. The thread whose swap succeeds takes the next step: it starts the scout,
-- rings its bell, or arranges its wake.
module Capstan.Task.Pool.Scout
  ( Scout (Awake, OnCall, Asleep, Absent, Elsewhere),
    setScout,
    changeScout,
    scoutOf,
    setIdle,
    isIdle,
    anyIdle,
    addSearching,
    anySearches,
    addEngaged,
    engagedWorkers,
  )
where

import Capstan.Task.Work.Layout
import Control.Monad (when)

-- | The state of the scout of a station ("Capstan.Task.Pool"). A push wakes no thread if the scout
-- is awake or on call.
newtype Scout = Scout Int
  deriving (Eq)

-- | The scout is awake on its Capability and looks for tasks.
pattern Awake :: Scout
pattern Awake = Scout SCOUT_AWAKE

-- | The scout sleeps, and is woken when the Capability idles, or after a fifth of a second
-- ("Capstan.Task.Pool.Station").
pattern OnCall :: Scout
pattern OnCall = Scout SCOUT_ON_CALL

-- | The scout sleeps until its bell rings.
pattern Asleep :: Scout
pattern Asleep = Scout SCOUT_ASLEEP

-- | The station has no scout.
pattern Absent :: Scout
pattern Absent = Scout SCOUT_ABSENT

-- | The scout is awake in a small pool, whose scouts do not belong to the deque with their number.
pattern Elsewhere :: Scout
pattern Elsewhere = Scout SCOUT_ELSEWHERE

{-# COMPLETE Awake, OnCall, Asleep, Absent, Elsewhere #-}

-- | Writes the state of a scout. Only the scout itself may call this.
setScout :: Deques -> Int -> Scout -> IO ()
setScout deques n (Scout scout) = do
  state <- stateOf deques n
  writeWord state STATE_SCOUT scout

-- | The scout's current state.
scoutOf :: Deques -> Int -> IO Scout
scoutOf deques n = Scout <$> (stateOf deques n >>= (`readWord` STATE_SCOUT))

-- | Changes the state from one value to another, if it has the first value. Returns whether it did.
changeScout :: Deques -> Int -> Scout -> Scout -> IO Bool
changeScout deques n from@(Scout old) (Scout new) = do
  now <- scoutOf deques n
  if now /= from
    then pure False
    else stateOf deques n >>= \state -> swapWord state STATE_SCOUT old new

-- | Writes whether a Capability idles with its scout asleep. The scout writes 'True' while it is
-- still awake. The thread that changes the scout from asleep to awake writes 'False'.
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

-- | Whether any Capability idles with its scout asleep.
anyIdle :: Flags -> IO Bool
anyIdle (Flags flags) = (/= 0) <$> readWord flags FLAGS_IDLE
{-# INLINE anyIdle #-}

-- | Adds to the number of workers that look for work.
addSearching :: Flags -> Int -> IO ()
addSearching (Flags flags) = addWord flags FLAGS_SEARCHING

-- | Whether any worker looks for work.
anySearches :: Flags -> IO Bool
anySearches (Flags flags) = (/= 0) <$> readWord flags FLAGS_SEARCHING
{-# INLINE anySearches #-}

-- | Adds to the number of workers that have a task.
addEngaged :: Flags -> Int -> IO ()
addEngaged (Flags flags) = addWord flags FLAGS_ENGAGED

-- | The number of workers that have a task.
engagedWorkers :: Flags -> IO Int
engagedWorkers (Flags flags) = readWord flags FLAGS_ENGAGED
