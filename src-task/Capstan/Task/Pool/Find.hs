-- |
-- Module      : Capstan.Task.Pool.Find
-- Description : How a worker finds a task
module Capstan.Task.Pool.Find
  ( visible,
    findTask,
    askForPrivate,
  )
where

import Capstan.Capability (capabilityNumber)
import Capstan.Task.Pool.Attend
import Capstan.Task.Pool.Push
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Station
import Capstan.Task.Pool.Threads
import Capstan.Task.Work.Deque
import Capstan.Task.Work.Run (isWanted)
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.Maybe (isJust)

-- | Whether there is a task to take. Also takes care of deques that have no scout. The look at the
-- deques is sequentially consistent, so it comes after what the caller has written. The list of
-- spilled tasks is read after that, as AArch64 does not keep a plain read behind an earlier write.
visible :: Pool -> IO Bool
visible pool = do
  own <- publish (deques pool)
  public <- if own > 0 then pure True else anyM seen [0 .. capacity (deques pool) - 1]
  if public then pure True else not . null <$> readIORef (spilled pool)
  where
    seen n = hasPublic (deques pool) n >>= \public -> if public then pure True else rescue pool n

-- | Ensures that private entries of a deque without a scout are not left behind (P3). Returns
-- whether they are public now.
rescue :: Pool -> Int -> IO Bool
rescue pool n = do
  private <- hasPrivate (deques pool) n
  now <- scoutOf (deques pool) n
  if not private || now /= Absent
    then pure False
    else do
      published <- publishOf (deques pool) n
      if published > 0 then pure True else False <$ attend pool n

-- | Takes the oldest task of this Capability, else of another Capability, else a spilled task. If
-- there are more, and another Capability idles, its scout is woken.
findTask :: Pool -> IO (Maybe Entry)
findTask pool = do
  _ <- publish (deques pool)
  here <- capabilityNumber
  let count = capacity (deques pool)
      go n
        | n == count = takeSpilled pool
        | otherwise = do
          let from = (here + n) `mod` count
          found <- steal (deques pool) from
          if isJust found then found <$ share here from else go (n + 1)
  go 0
  where
    share here from = do
      idle <- anyIdle (flags pool)
      more <- if idle then hasPublic (deques pool) from else pure False
      when more (wakeOther pool here)

-- | Takes a block of spilled tasks: returns one task, and pushes the others to the caller's ring.
takeSpilled :: Pool -> IO (Maybe Entry)
takeSpilled pool = do
  blocks <- readIORef (spilled pool)
  if null blocks
    then pure Nothing
    else uninterruptibleMask_ $ do
      block <- atomicModifyIORef' (spilled pool) (\now -> (drop 1 now, concat (take 1 now))) >>= filterM isWanted
      case block of
        [] -> takeSpilled pool
        entry : others -> Just entry <$ spawnAgain pool others

-- | Publishes the private tasks of all Capabilities, by a thread on each Capability that has some.
askForPrivate :: Pool -> IO ()
askForPrivate pool = do
  have <- getNumCapabilities
  forM_ [0 .. min have (capacity (deques pool)) - 1] $ \n -> do
    private <- hasPrivate (deques pool) n
    when private (counted (threads pool) (void . forkOn n) tell)
  where
    -- The scout that asked may sleep by now.
    tell = do
      published <- publish (deques pool)
      idle <- anyIdle (flags pool)
      when (published > 0 && idle) (capabilityNumber >>= wakeOther pool)
