-- |
-- Module      : Capstan.Task.Pool.Workers
-- Description : Which workers of a station run tasks, and whether one of them computes
--
-- A task that blocks keeps its worker, and there may be very many of those: each look at all of them would make a
-- program with @n@ such tasks take @n@ times @n@ steps. So those that were found blocked are put aside, and of them each
-- look asks only a few, in turn. A worker that goes on is found by that, or comes back by itself with its next task.
--
-- The answers are hints: two workers that compute on one Capability share it, as threads do.
module Capstan.Task.Pool.Workers
  ( Workers,
    Worker,
    newWorkers,
    clearWorkers,
    engage,
    goesOn,
    retire,
    anyComputes,
    othersCompute,
    inLine,
    mayCompute,
  )
where

import Capstan.Task.Thread.Target (targetThread)
import Capstan.Task.Work.Group (Place, target)
import Data.IORef
import Data.IntMap.Strict (IntMap)
import qualified Data.IntMap.Strict as IntMap
import Data.IntSet (IntSet)
import qualified Data.IntSet as IntSet
import GHC.Conc (BlockReason (..), ThreadStatus (..), threadStatus)

-- | The workers of a station that have a task.
newtype Workers = Workers (IORef State)

data State = State
  { -- | The number of the next one.
    fresh :: !Worker,
    active :: !(IntMap Place),
    -- | Those that were found blocked, and the one that was asked last.
    aside :: !(IntMap Place),
    asked :: !Worker,
    -- | Those of them that wait for a value that another thread computes.
    lined :: !IntSet
  }

-- | The number of a worker.
type Worker = Int

-- | Nobody.
newWorkers :: IO Workers
newWorkers = Workers <$> newIORef nobody

nobody :: State
nobody = State 0 IntMap.empty IntMap.empty 0 IntSet.empty

-- | Takes all out.
clearWorkers :: Workers -> IO ()
clearWorkers (Workers ref) = atomicWriteIORef ref nobody

change :: Workers -> (State -> State) -> IO ()
change (Workers ref) f = atomicModifyIORef' ref (\state -> (f state, ()))

-- | Adds a worker, whose place is given.
engage :: Workers -> Place -> IO Worker
engage (Workers ref) place = atomicModifyIORef' ref $ \state ->
  let worker = fresh state in (state {fresh = worker + 1, active = IntMap.insert worker place (active state)}, worker)

-- | Says that a worker has not ended, and is not blocked.
goesOn :: Workers -> Worker -> IO ()
goesOn workers@(Workers ref) worker = do
  state <- readIORef ref
  if IntMap.member worker (aside state) then change workers (`woken` worker) else pure ()

-- | Takes a worker out.
retire :: Workers -> Worker -> IO ()
retire workers worker = change workers $ \state ->
  state {active = IntMap.delete worker (active state), aside = IntMap.delete worker (aside state), lined = IntSet.delete worker (lined state)}

-- | How many workers may be computing.
mayCompute :: Workers -> IO Int
mayCompute (Workers ref) = IntMap.size . active <$> readIORef ref

-- | Whether a worker computes.
anyComputes :: Workers -> IO Bool
anyComputes workers = othersCompute workers (-1)

-- | Whether another than that worker does.
othersCompute :: Workers -> Worker -> IO Bool
othersCompute workers@(Workers ref) me = do
  state <- readIORef ref
  found <- firstActive (IntMap.toList (active state))
  if found || IntMap.null (aside state) then pure found else firstAside (few state)
  where
    firstActive [] = pure False
    firstActive ((worker, place) : rest)
      | worker == me = firstActive rest
      | otherwise = do
        status <- statusOf place
        if status == ThreadRunning then pure True else change workers (blocked status worker) >> firstActive rest

    firstAside [] = pure False
    firstAside ((worker, place) : rest) = do
      status <- statusOf place
      let yes = status == ThreadRunning
      change workers (\state -> if yes then state `woken` worker else state {asked = worker})
      if yes then pure True else firstAside rest

    -- From the one that was asked last on, and round.
    few state =
      let (before, after) = IntMap.split (asked state) (aside state)
       in take 4 (IntMap.toList after ++ maybe [] (\place -> [(asked state, place)]) (IntMap.lookup (asked state) (aside state)) ++ IntMap.toList before)

-- | Whether many workers wait for values that others compute, as where all tasks change one reference by
-- 'Data.IORef.atomicModifyIORef''. Each task more would make the line longer and the pace slower.
inLine :: Workers -> IO Bool
inLine (Workers ref) = (>= 4) . IntSet.size . lined <$> readIORef ref

-- | With a worker among those that may compute, if it was put aside.
woken :: State -> Worker -> State
woken state worker = case IntMap.lookup worker (aside state) of
  Just place ->
    state
      { active = IntMap.insert worker place (active state),
        aside = IntMap.delete worker (aside state),
        lined = IntSet.delete worker (lined state)
      }
  Nothing -> state

-- | With a worker put aside, if it is still there.
blocked :: ThreadStatus -> Worker -> State -> State
blocked status worker state = case IntMap.lookup worker (active state) of
  Just place ->
    state
      { active = IntMap.delete worker (active state),
        aside = IntMap.insert worker place (aside state),
        lined = if status == ThreadBlocked BlockedOnBlackHole then IntSet.insert worker (lined state) else lined state
      }
  Nothing -> state

statusOf :: Place -> IO ThreadStatus
statusOf place = targetThread (target place) >>= maybe (pure ThreadFinished) threadStatus
