-- |
-- Module      : Capstan.Task.Pool.Push
-- Description : Gives tasks to a pool
--
-- A push goes to the deque of the caller's Capability, and mostly costs some nanoseconds. It is
-- refused if the scout there sleeps, and answered with a number that says which scouts the caller
-- must wake ("Capstan.Task.Pool", P1). If the ring is full, its older half is /spilled/: it goes
-- to a list that all workers read.
module Capstan.Task.Pool.Push
  ( spawn,
    spawnValue,
    spawnAgain,
  )
where

import Capstan.Capability (capabilityNumber)
import Capstan.Task.Pool.Attend
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Station
import Capstan.Task.Thread.Seeded (asMember, offer)
import Capstan.Task.Work.Cell (Cell)
import Capstan.Task.Work.Counters (Counters, countPushed)
import Capstan.Task.Work.Deque
import Capstan.Task.Work.Group
import Capstan.Task.Work.Run (asWorker, isWanted)
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Bits (unsafeShiftR, (.&.))
import Data.IORef
import Data.List (nub)
import Data.Maybe (catMaybes)
import qualified Data.Vector as V
import GHC.IO (noDuplicate)

-- | Pushes a task.
spawn :: Pool -> Counters -> Cell a -> IO ()
spawn pool counters cell = do
  answer <- push (deques pool) (flags pool) counters cell
  if answer == 1 then pure () else spawnSlowly pool counters cell answer
{-# INLINE spawn #-}

-- | Pushes a part of a value. The slow path must be completed, so 'noDuplicate' first ensures that
-- no other thread evaluates the caller's value ("Capstan.Task.Join.Fork").
spawnValue :: Pool -> Cell a -> IO ()
spawnValue pool cell = do
  answer <- push (deques pool) (flags pool) (uncounted pool) cell
  if answer == 1 then pure () else noDuplicate >> spawnSlowly pool (uncounted pool) cell answer
{-# INLINE spawnValue #-}

-- | The rest of a push, after the first attempt, which may have been refused.
spawnSlowly :: Pool -> Counters -> Cell a -> Int -> IO ()
spawnSlowly pool counters cell answer
  | answer /= 0 = capabilityNumber >>= wakeOther pool
  | otherwise = asMember (`offerCell` entryOf cell) . uninterruptibleMask_ $ do
    beginAnew pool
    place <- placeHere
    remember (deques pool) place
    again <- push (deques pool) (flags pool) counters cell
    case again of
      0 -> contextAt place >>= spawnSurely pool counters . entryOf cell
      1 -> pure ()
      _ -> capabilityNumber >>= wakeOther pool
  where
    -- No deque remembers a thread of a seeded run, so its pushes always come here.
    offerCell me entryIn = do
      entry <- entryIn <$> (placeHere >>= contextAt)
      offer me (countPushed counters) (isWanted entry) (asWorker (\_ runs -> runs entry))
{-# NOINLINE spawnSlowly #-}

-- | Pushes a task even if the scout sleeps, or spills it, so that all workers find it. The caller
-- is uninterruptible.
spawnSurely :: Pool -> Counters -> Entry -> IO ()
spawnSurely pool counters entry = pushOrSpill pool counters entry >>= mapM_ (wakeAfter pool)

-- | As 'spawnSurely', for tasks that their scopes have counted. It wakes scouts once for all tasks.
spawnAgain :: Pool -> [Entry] -> IO ()
spawnAgain pool entries = mapM (pushOrSpill pool (uncounted pool)) entries >>= mapM_ (wakeAfter pool) . nub . catMaybes

-- | Pushes a task, or spills it. Returns the answer of the push, after which the caller must wake
-- scouts ('wakeAfter').
pushOrSpill :: Pool -> Counters -> Entry -> IO (Maybe Int)
pushOrSpill pool counters entry = do
  pushed <- pushSurely (deques pool) (flags pool) counters entry
  if pushed /= 0
    then pure (Just pushed)
    else do
      countPushed counters
      spill pool
      again <- pushSurely (deques pool) (flags pool) (uncounted pool) entry
      if again /= 0 then pure (Just again) else Nothing <$ spillBlock pool [entry]

-- | Keeps the promise of a push to wake a scout.
wakeAfter :: Pool -> Int -> IO ()
wakeAfter pool answer = do
  let there = answer `unsafeShiftR` 2
  -- If all scouts slept, some Capabilities may be new.
  serveCapabilities pool
  served <- attendAfterPush pool there
  unless (served && answer .&. 2 == 0) (wakeOther pool there)

-- | As 'attend', after a push of the caller. While the caller computes, it needs no scout, as other
-- Capabilities take its tasks. A scout that is awake would take the Capability from the caller at
-- each end of a slice, which costs two switches of OS threads if the caller is bound. So the scout
-- is put on call if there are other Capabilities.
attendAfterPush :: Pool -> Int -> IO Bool
attendAfterPush pool n = do
  have <- getNumCapabilities
  now <- if have > 1 && poolLimit pool == 0 && n < V.length (stations pool) then scoutOf (deques pool) n else pure Absent
  if now == Asleep then True <$ putOnCall pool (stations pool V.! n) else attend pool n

-- | Makes room in the Capability's ring: removes entries that were claimed, and spills the older
-- half of the rest.
spill :: Pool -> IO ()
spill pool = do
  _ <- publish (deques pool)
  here <- capabilityNumber
  when (here < capacity (deques pool)) $ do
    block <- stealSome pool here (ringSize `div` 2) >>= filterM isWanted
    unless (null block) (spillBlock pool block)

-- | Takes the oldest public tasks of a deque, at most the given number.
stealSome :: Pool -> Int -> Int -> IO [Entry]
stealSome pool from = go
  where
    go :: Int -> IO [Entry]
    go 0 = pure []
    go n = steal (deques pool) from >>= maybe (pure []) (\entry -> (entry :) <$> go (n - 1))

-- | Puts a block of tasks into the list of spilled tasks, where any worker finds them.
spillBlock :: Pool -> [Entry] -> IO ()
spillBlock pool block = do
  atomicModifyIORef' (spilled pool) (\blocks -> (block : blocks, ()))
  capabilityNumber >>= wakeOther pool
