-- |
-- Module      : Capstan.Task.Loop.Crew
-- Description : Loops whose members choose what they do next
--
-- A crew's first member is the caller. Between two steps a member looks whether another Capability wants work, and if so forks one
-- more; on a busy machine, or on one Capability, the caller does all of it.
module Capstan.Task.Loop.Crew
  ( crew,
    asManyAsRun,
    runAtOnce,
  )
where

import Capstan.Domain (fetchAdd, newAtomicInt, readAtomicInt, writeAtomicInt)
import Capstan.Task.Join.Fork (bothTelling)
import Capstan.Task.Pool
import Capstan.Task.Thread.Seeded (asMember, coin, switchPoint)
import Control.Concurrent (getNumCapabilities, myThreadId)
import Control.Exception (MaskingState (MaskedInterruptible), allowInterrupt, getMaskingState)
import Control.Monad (void, when)

-- | Members go from state to state, the first one given, until there is none; a step is told how many members there are. One more comes only
-- if there is room beside so many, as who is about to make that step says, or as a seed draws. None comes while a member is failing: each
-- Capability that a stopped one leaves would get another, to be stopped as well. The caller has let the pool serve its Capabilities.
crew :: Pool -> (Int -> s -> IO Bool) -> s -> (Int -> s -> IO (Maybe s)) -> IO ()
crew pool room first step = do
  members <- newAtomicInt 0
  failing <- newAtomicInt 0
  caller <- myThreadId
  masking <- getMaskingState
  let member = do
        _ <- fetchAdd members 1
        -- Its exceptions are masked as the caller's are, and it is to stop for a failure of the others all the same.
        stops <- if masking == MaskedInterruptible then (/= caller) <$> myThreadId else pure False
        go stops first
      go stops state = do
        when stops allowInterrupt
        wanted <- asMember (\me -> switchPoint >> coin me) (divides pool)
        now <- readAtomicInt members
        more <- if wanted then asMember (const (pure True)) ((&&) <$> isSound <*> room now state) else pure False
        if more then void (fork (advance stops now state) member) else advance stops now state
      isSound = (0 ==) <$> readAtomicInt failing
      fork = bothTelling (writeAtomicInt failing 0) (writeAtomicInt failing 1) pool
      advance stops now state = step now state >>= maybe (void (fetchAdd members (-1))) (go stops)
  member

-- | Never more than run at once, for those who wait for each other: one more could have no Capability to go on then.
asManyAsRun :: Pool -> Int -> s -> IO Bool
asManyAsRun pool now _ = (now <) <$> runAtOnce pool

-- | How many members of a pool run at once: it may be larger than there are Capabilities.
runAtOnce :: Pool -> IO Int
runAtOnce pool = min <$> getNumCapabilities <*> poolSize pool
