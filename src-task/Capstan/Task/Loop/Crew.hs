-- |
-- Module      : Capstan.Task.Loop.Crew
-- Description : Loops whose members choose their next step
--
-- A crew's first member is the caller. Between two steps a member checks whether another Capability
-- wants work, and if so forks another member. On a busy machine, or on one Capability, the caller
-- does all the work.
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

-- | Runs a loop by a crew. Each member begins with the given state and steps from state to state
-- until a step returns none; a step gets the number of members. A member forks another member only
-- if @room@ allows it for that number and its own state. In a seeded run, the seed also decides. No
-- member forks while another fails: otherwise each Capability that a stopped member leaves would
-- get a new member, which would be stopped as well. The caller has already let the pool serve its
-- Capabilities.
crew :: Pool -> (Int -> s -> IO Bool) -> s -> (Int -> s -> IO (Maybe s)) -> IO ()
crew pool room first step = do
  members <- newAtomicInt 0
  failing <- newAtomicInt 0
  caller <- myThreadId
  masking <- getMaskingState
  let member = do
        _ <- fetchAdd members 1
        -- The member has the caller's masking state. Even if exceptions are masked, it must stop
        -- when another member fails.
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

-- | Room for as many members as run at the same time. This is for members that wait for each other:
-- a further member might have no Capability, and the others would wait for it.
asManyAsRun :: Pool -> Int -> s -> IO Bool
asManyAsRun pool now _ = (now <) <$> runAtOnce pool

-- | The number of members of a pool that run at the same time. The pool may have more workers than
-- Capabilities.
runAtOnce :: Pool -> IO Int
runAtOnce pool = min <$> getNumCapabilities <*> poolSize pool
