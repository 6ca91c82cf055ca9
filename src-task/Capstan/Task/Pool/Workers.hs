-- |
-- Module      : Capstan.Task.Pool.Workers
-- Description : The workers of a station that run tasks, and whether any of them computes
--
-- A task that blocks keeps its worker, and there may be very many such workers. If each check
-- looked at all of them, a program with @n@ such tasks would take @n@ times @n@ steps. So workers
-- that were found blocked are put aside, and each check looks at only a few of them, in turn. Such
-- a check finds a worker that goes on, or the worker comes back by itself with its next task.
--
-- A worker that is put aside, blocked in an 'Control.Concurrent.MVar' or in STM, may leave the
-- station's Capability when it is woken. A worker that waits for a value stays, because such values
-- pass from thread to thread. A worker that computes on another Capability counts as blocked here.
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
    longLine,
    mayCompute,
  )
where

import Capstan.Internal.Swap (changeEvaluated, modifyEvaluated)
import Capstan.Task.Thread.Stay (mayLeave)
import Capstan.Task.Thread.Target (targetThread)
import Capstan.Task.Work.Group (Place, target)
import Control.Monad (when)
import Data.IORef
import Data.IntMap.Strict (IntMap)
import qualified Data.IntMap.Strict as IntMap
import Data.IntSet (IntSet)
import qualified Data.IntSet as IntSet
import Data.Maybe (isJust)
import GHC.Conc (BlockReason (..), ThreadStatus (..), threadCapability, threadStatus)

-- | The workers of a station that have a task, and the station's Capability. The workers of a small
-- pool have no Capability of their own.
data Workers = Workers !(Maybe Int) !(IORef State)

data State = State
  { -- | The number of the next worker.
    fresh :: !Worker,
    active :: !(IntMap Place),
    -- | The workers that were found blocked. The next field has the worker that was checked last.
    aside :: !(IntMap Place),
    asked :: !Worker,
    -- | The blocked workers that wait for a value that another thread computes.
    lined :: !IntSet
  }

-- | The number of a worker.
type Worker = Int

-- | A station without workers.
newWorkers :: Maybe Int -> IO Workers
newWorkers capability = Workers capability <$> (newIORef $! nobody)

nobody :: State
nobody = State 0 IntMap.empty IntMap.empty 0 IntSet.empty

-- | Removes all workers.
clearWorkers :: Workers -> IO ()
clearWorkers (Workers _ ref) = atomicWriteIORef ref $! nobody

change :: Workers -> (State -> State) -> IO ()
change (Workers _ ref) = modifyEvaluated ref

-- | Adds a worker with the given place.
engage :: Workers -> Place -> IO Worker
engage (Workers _ ref) place = changeEvaluated ref $ \state ->
  let worker = fresh state in (state {fresh = worker + 1, active = IntMap.insert worker place (active state)}, worker)

-- | Notes that a worker has not ended, and is not blocked.
goesOn :: Workers -> Worker -> IO ()
goesOn workers@(Workers _ ref) worker = do
  state <- readIORef ref
  if IntMap.member worker (aside state) then change workers (`woken` worker) else pure ()

-- | Removes a worker.
retire :: Workers -> Worker -> IO ()
retire workers worker = change workers $ \state ->
  state {active = IntMap.delete worker (active state), aside = IntMap.delete worker (aside state), lined = IntSet.delete worker (lined state)}

-- | The number of workers that may be computing.
mayCompute :: Workers -> IO Int
mayCompute (Workers _ ref) = IntMap.size . active <$> readIORef ref

-- | Whether a worker computes.
anyComputes :: Workers -> IO Bool
anyComputes workers = othersCompute workers (-1)

-- | Whether a worker other than the given worker computes.
othersCompute :: Workers -> Worker -> IO Bool
othersCompute workers@(Workers capability ref) me = do
  state <- readIORef ref
  found <- firstActive (IntMap.toList (active state))
  if found || IntMap.null (aside state) then pure found else firstAside (few state)
  where
    firstActive [] = pure False
    firstActive ((worker, place) : rest)
      | worker == me = firstActive rest
      | otherwise = do
        status <- statusOf place
        if status == ThreadRunning
          then pure True
          else do
            change workers (blocked status worker)
            when (isJust capability && mayMove status) (targetThread (target place) >>= mapM_ mayLeave)
            firstActive rest

    firstAside [] = pure False
    firstAside ((worker, place) : rest) = do
      status <- statusOf place
      let yes = status == ThreadRunning
      change workers (\state -> if yes then state `woken` worker else state {asked = worker})
      if yes then pure True else firstAside rest

    mayMove status = status == ThreadBlocked BlockedOnMVar || status == ThreadBlocked BlockedOnSTM

    statusOf place = targetThread (target place) >>= maybe (pure ThreadFinished) statusHere
    statusHere thread = do
      status <- threadStatus thread
      away <- if status == ThreadRunning then maybe (pure False) (\here -> (/= here) . fst <$> threadCapability thread) capability else pure False
      pure (if away then ThreadBlocked BlockedOnOther else status)

    -- The next four workers after the worker that was checked last, in a circle.
    few state =
      let (before, after) = IntMap.split (asked state) (aside state)
       in take 4 (IntMap.toList after ++ maybe [] (\place -> [(asked state, place)]) (IntMap.lookup (asked state) (aside state)) ++ IntMap.toList before)

-- | The number of workers that wait for values that others compute.
inLine :: Workers -> IO Int
inLine (Workers _ ref) = IntSet.size . lined <$> readIORef ref

-- | The number of workers in line from which each further task would make the line longer, and the
-- pace slower. This happens if all tasks change one reference by 'Data.IORef.atomicModifyIORef''.
longLine :: Int
longLine = 4

-- | The state after a worker that was put aside may compute again.
woken :: State -> Worker -> State
woken state worker = case IntMap.lookup worker (aside state) of
  Just place ->
    state
      { active = IntMap.insert worker place (active state),
        aside = IntMap.delete worker (aside state),
        lined = IntSet.delete worker (lined state)
      }
  Nothing -> state

-- | The state after a worker was put aside, if the worker is still active.
blocked :: ThreadStatus -> Worker -> State -> State
blocked status worker state = case IntMap.lookup worker (active state) of
  Just place ->
    state
      { active = IntMap.delete worker (active state),
        aside = IntMap.insert worker place (aside state),
        lined = if status == ThreadBlocked BlockedOnBlackHole then IntSet.insert worker (lined state) else lined state
      }
  Nothing -> state
