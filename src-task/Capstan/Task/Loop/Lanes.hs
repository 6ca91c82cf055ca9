{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE LambdaCase #-}

-- |
-- Module      : Capstan.Task.Loop.Lanes
-- Description : Loops in which an index waits for some lesser indices
--
-- The indices form lanes, four for each worker of the pool. The indices of a lane run in order.
-- Lanes are dealt to the members of the loop's crew in turn. A member runs the next index of one of
-- its own lanes, if that index is able to run. If none is able for a while, it takes an index from
-- a lane of another member. So the data of a lane stay in the cache of one processor, and no member
-- stands still because another member does.
--
-- As the indices of a lane run in order, its next index says which of its indices have ended. So no
-- memory is kept for each index.
--
-- == Why no member waits for ever
--
-- A member that finds no index writes that it sleeps. Before it sleeps, it looks at all lanes
-- again, and checks whether a member has failed. A member that has run an index writes the lane's
-- next index, and a member that fails writes that it failed. Then it checks whether a member
-- sleeps. All these accesses are sequentially consistent ("Capstan.Domain"), so one of the two
-- members sees the other's write.
--
-- Consider the least index that has not begun. The indices for which it waits all end. The member
-- that ends the last of them wakes the sleepers, and looks at all lanes itself. If the index's lane
-- is free then, a member finds the index. Otherwise a member has taken the lane. Either it begins
-- with the index, or it took the lane just before that end. In the second case it gives the lane
-- back, and looks at all lanes before it sleeps.
module Capstan.Task.Loop.Lanes
  ( parallelForAfter,
  )
where

import Capstan.Domain (AtomicInt, AtomicRef, compareAndSetInt, exchange, fetchAdd, modifyAtomic, newAtomic, newAtomicInt, readAtomicInt, writeAtomicInt)
import Capstan.Exception (invalidValue)
import Capstan.Task.Loop.Crew
import Capstan.Task.Loop.For (Range (Range), remaining)
import Capstan.Task.Pool
import Capstan.Task.Pool.Wait (expect)
import Capstan.Task.Thread.Briefly (briefly)
import Capstan.Task.Thread.Seeded (asMember)
import Capstan.Task.Thread.Stay (staying)
import Capstan.Task.Work.Cell
import Control.Exception (mask_, onException)
import Control.Monad (when)
import qualified Data.Vector as V

-- | Runs the body for each index. An index begins only after the lesser indices of the range that
-- the function names have ended. Use it for waves that cross a table, or for steps of a simulation
-- in which a part waits for its neighbours only.
--
-- > simulate :: Int -> Int -> (Int -> Int -> IO ()) -> IO ()
-- > simulate steps parts advance =
-- >   parallelForAfter (range 0 (steps * parts)) neighbours $ \index -> uncurry advance (index `quotRem` parts)
-- >   where
-- >     neighbours index = let (k, part) = index `quotRem` parts in [(k - 1) * parts + (part + j) `mod` parts | j <- [-1, 0, 1]]
--
-- Indices whose distance is a multiple of 'poolSize' stay with one worker, unless that worker is
-- late or the pool's workers outnumber the Capabilities. Indices whose distance is a multiple of
-- four times 'poolSize' form a lane, whose indices run in order. So if the number of parts is
-- 'poolSize', or four times as large, the data of each part stay in the cache of one processor. If
-- a worker is late, other workers take over its lanes.
-- The size of pieces is 1. An index costs some hundred nanoseconds and no memory.
--
-- A body must not wait for another index in any other way. If a body throws, the other bodies are
-- interrupted, and the loop throws the exception again. Throws an
-- 'Capstan.Exception.InvalidArgument' if an index would wait for itself or for a greater index.
parallelForAfter :: Range -> (Int -> [Int]) -> (Int -> IO ()) -> IO ()
parallelForAfter (Range from to _ pool) before body = when (from < to) $ do
  width <- asMember (const (pure 3)) (poolSize pool)
  members <- asMember (const (pure 3)) (runAtOnce pool)
  plan <-
    Plan pool count needed (body . (from +)) members
      <$> V.generateM (min count (4 * width)) (\k -> Lane <$> newAtomicInt 0 <*> newAtomicInt k <*> newAtomicInt (-1))
      <*> newAtomicInt 0
      <*> newAtomicInt 0
      <*> newAtomicInt 0
      <*> newAtomic []
  serveCapabilities pool
  -- The caller must not move: if it is late, the other members wait, so their Capabilities idle and
  -- GHC would move it there.
  staying $ crew pool room Nothing (\present -> fmap (fmap Just) . maybe (arrive plan) (unlessFailed plan . step plan present))
  where
    -- A member that has just come does not fork: a small pool always wants more, and a new member
    -- would find no lane.
    room now = maybe (pure False) (asManyAsRun pool now)
    -- If the number exceeds an 'Int', it is cut to 'maxBound': no loop runs that long.
    count = fromIntegral (min (remaining from to) (fromIntegral (maxBound :: Int)))
    needed k = [check (from + k) j - from | j <- before (from + k), j >= from]
    check k j
      | j < k = j
      | otherwise = invalidValue (unwords ["Capstan.Task.parallelForAfter:", show k, "would wait for", show j ++ "; an index may wait for lesser ones"])

-- | The state of a loop. Its indices count from 0.
data Plan = Plan
  { workers :: !Pool,
    -- | The number of indices.
    size :: !Int,
    -- | The indices for which an index waits.
    needs :: Int -> [Int],
    act :: Int -> IO (),
    -- | The largest number of members.
    most :: !Int,
    lanes :: !(V.Vector Lane),
    -- | The number of members that have come so far.
    arrivals :: !AtomicInt,
    -- | Not 0 if a member has an exception.
    failed :: !AtomicInt,
    -- | Not 0 if a member may sleep.
    asleep :: !AtomicInt,
    sleepers :: !(AtomicRef [Cell ()])
  }

data Lane = Lane
  { -- | 1 if a member has taken the lane.
    taken :: !AtomicInt,
    -- | The lane's next index, which only the member that has the lane changes. The indices before
    -- it have ended.
    upcoming :: !AtomicInt,
    -- | An index for which the lane's next index waited when a member last looked; negative if
    -- there was none.
    obstacle :: !AtomicInt
  }

-- | The lanes of a member: the first lane, and the distance between two of its lanes.
data Reach = Reach !Int !Int

whole :: Reach
whole = Reach 0 1

laneOf :: Plan -> Int -> Lane
laneOf plan k = lanes plan V.! (k `rem` V.length (lanes plan))

-- | The lanes of a member that has just come. 'Nothing' if the crew is complete.
arrive :: Plan -> IO (Maybe Reach)
arrive plan = do
  number <- fetchAdd (arrivals plan) 1
  pure (if number < most plan then Just (Reach number (most plan)) else Nothing)

-- | Runs the next step of a member, unless a member has failed. A member that has masked exceptions
-- is not interrupted by that failure, so it checks.
unlessFailed :: Plan -> IO (Maybe a) -> IO (Maybe a)
unlessFailed plan next = do
  over <- readAtomicInt (failed plan)
  if over /= 0 then pure Nothing else next `onException` (writeAtomicInt (failed plan) 1 >> wake plan)

-- | The next step of a member, with the number of members. 'Nothing' if all lanes have ended.
step :: Plan -> Int -> Reach -> IO (Maybe Reach)
step plan present own = do
  more <- choose >>= maybe (sleep plan) (\k -> True <$ run plan k)
  pure (if more then Just own else Nothing)
  where
    choose
      | present == 1 = takeOne plan whole
      | otherwise = briefly 20 (takeOne plan own) >>= maybe (takeOne plan whole) (pure . Just)

-- | Among the lanes of a reach, takes the lane with the least index that is able to run, and
-- returns that index.
takeOne :: Plan -> Reach -> IO (Maybe Int)
takeOne plan (Reach first apart) = beyond (-1)
  where
    beyond bound = least bound first maxBound >>= \k -> if k == maxBound then pure Nothing else attempt k
    least !bound !n !best
      | n >= V.length (lanes plan) = pure best
      | otherwise = do
        let lane = lanes plan V.! n
        k <- readAtomicInt (upcoming lane)
        busy <- readAtomicInt (taken lane)
        least bound (n + apart) (if busy == 0 && k > bound && k < best && k < size plan then k else best)
    attempt k = do
      able <- isAble plan k
      mine <- if able then compareAndSetInt (taken (laneOf plan k)) 0 1 else pure False
      if not mine
        then beyond k
        else do
          now <- readAtomicInt (upcoming (laneOf plan k))
          -- Another member may have run the index meanwhile.
          if now == k then pure (Just k) else writeAtomicInt (taken (laneOf plan k)) 0 >> beyond (-1)

-- | Whether all indices for which an index waits have ended. A waiting member asks this again and
-- again, and must not allocate meanwhile. Otherwise a collection would become due, and all members
-- would wait until the late member stops. So the member first looks at the obstacle. An obstacle
-- that has not ended was found for this very index, because its lane cannot advance before.
isAble :: Plan -> Int -> IO Bool
isAble plan k = do
  found <- readAtomicInt (obstacle (laneOf plan k))
  gone <- if found < 0 then pure True else hasEnded found
  if gone then go (needs plan k) else pure False
  where
    go [] = pure True
    go (j : rest) = hasEnded j >>= \over -> if over then go rest else False <$ writeAtomicInt (obstacle (laneOf plan k)) j
    hasEnded j = (> j) <$> readAtomicInt (upcoming (laneOf plan j))

-- | Runs an index whose lane the member has taken, and wakes the sleepers.
run :: Plan -> Int -> IO ()
run plan k = do
  act plan k
  mask_ $ do
    writeAtomicInt (upcoming lane) (k + V.length (lanes plan))
    writeAtomicInt (taken lane) 0
    wake plan
  where
    lane = laneOf plan k

-- | Wakes the members that sleep.
wake :: Plan -> IO ()
wake plan = do
  some <- readAtomicInt (asleep plan)
  when (some /= 0) $ do
    writeAtomicInt (asleep plan) 0
    exchange (sleepers plan) [] >>= mapM_ (`finish` Done ())

-- | Sleeps until an index has ended or a member has failed. Returns 'False' if all indices have
-- ended, or if a member has failed.
sleep :: Plan -> IO Bool
sleep plan = do
  cell <- newCell (Open Pending [])
  _ <- modifyAtomic (sleepers plan) (cell :)
  writeAtomicInt (asleep plan) 1
  takeOne plan whole >>= \case
    Just k -> True <$ run plan k
    Nothing -> do
      over <- V.all (>= size plan) <$> V.mapM (readAtomicInt . upcoming) (lanes plan)
      gone <- (/= 0) <$> readAtomicInt (failed plan)
      if over || gone then pure False else True <$ expect (workers plan) cell
