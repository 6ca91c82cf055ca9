-- |
-- Module      : Capstan.Task.Crew
-- Description : Loops whose members choose what they do next
--
-- A crew's first member is the caller. Between two steps a member looks whether another Capability wants work, and if so forks one
-- more; on a busy machine, or on one Capability, the caller does all of it.
module Capstan.Task.Crew
  ( crew,
  )
where

import Capstan.Domain (fetchAdd, newAtomicInt, readAtomicInt)
import Capstan.Task.Pool
import Capstan.Task.Seeded (asMember, coin, switchPoint)
import Control.Monad (void)

-- | Members go from state to state, the first one given, until there is none; a step is told how many members there are. There are never
-- more than the pool runs at once: who waits for another could have no Capability to go on then. The caller says how
-- two branches are run.
crew :: (IO () -> IO () -> IO ((), ())) -> Pool -> s -> (Int -> s -> IO (Maybe s)) -> IO ()
crew fork pool first step = do
  serveCapabilities pool
  limit <- poolSize pool
  members <- newAtomicInt 0
  let member = fetchAdd members 1 >> go first
      go state = do
        wanted <- asMember (\me -> switchPoint >> coin me) (divides pool)
        now <- readAtomicInt members
        drawn <- asMember (const (pure wanted)) (pure (wanted && now < limit))
        if drawn then void (fork (advance now state) member) else advance now state
      advance now state = step now state >>= maybe (void (fetchAdd members (-1))) go
  member
