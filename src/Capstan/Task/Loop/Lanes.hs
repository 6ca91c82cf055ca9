{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE LambdaCase #-}

-- |
-- Module      : Capstan.Task.Loop.Lanes
-- Description : Loops in which an index waits for some lesser ones
--
-- The indices form four lanes for each task that the pool runs at once. Each lane goes in order. They are dealt to the members of the
-- loop's crew in turn; a member takes the next index of one of its own that is able to run, and if none is for a while, one of another's.
-- So a part of the data that is one lane's stays in the cache of one processor, and nobody stands still because another one does.
--
-- As a lane goes in order, its next index says which of its indices have ended, and nothing is kept for an index.
--
-- == Why nobody waits for ever
--
-- Who finds nothing writes down that it sleeps, and looks at all lanes again before it does, and whether a member failed. Who goes on in a
-- lane writes down its next index, and who fails that it did, and then looks who sleeps. Both are sequentially consistent
-- ("Capstan.Domain"), so one of them sees the other.
--
-- Take the least index that has not begun. What it waits for ends, and who ends the last of that wakes who sleeps, and looks at all lanes
-- itself. If the index's lane is free then, it is found; if somebody has it, then to begin with the index, or because it was looked at
-- just before that end, and then it is given back, and who had it looks at all lanes before it sleeps.
module Capstan.Task.Loop.Lanes
  ( parallelForAfter,
  )
where

import Capstan.Domain (AtomicInt, AtomicRef, compareAndSetInt, exchange, fetchAdd, modifyAtomic, newAtomic, newAtomicInt, readAtomicInt, writeAtomicInt)
import Capstan.Exception.Internal (invalidValue)
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

-- | Runs the body for each index, after it has ended for those lesser indices of the range that the function names: for waves that
-- cross a table, and for steps of a simulation in which a part waits for its neighbours and not for all.
--
-- > simulate :: Int -> Int -> (Int -> Int -> IO ()) -> IO ()
-- > simulate steps parts advance =
-- >   parallelForAfter (range 0 (steps * parts)) neighbours $ \index -> uncurry advance (index `quotRem` parts)
-- >   where
-- >     neighbours index = let (k, part) = index `quotRem` parts in [(k - 1) * parts + (part + j) `mod` parts | j <- [-1, 0, 1]]
--
-- Indices that are 'poolSize' apart stay with one worker while it has them go on; those that are four times as much apart are one
-- lane, which goes in order. So with as many parts, or four times as many, each stays in the cache of one processor, and where one
-- is late, the rest goes on. The size of pieces is 1. An index costs some hundred nanoseconds, and nothing is kept for it.
--
-- A body may wait in no other way for what another index does. If one throws, the others are interrupted and the exception is thrown
-- again. An index that would wait for itself or a greater one is an
-- 'Capstan.Exception.InvalidArgument'.
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
  -- Where the caller is late, the other members wait, so their Capabilities idle.
  staying $ crew pool room Nothing (\present -> fmap (fmap Just) . maybe (arrive plan) (unlessFailed plan . step plan present))
  where
    -- Who has just come does not fork: a small pool always wants more, and after its end nobody takes it.
    room now = maybe (pure False) (asManyAsRun pool now)
    -- Where there are more than an Int can say, nobody lives to see the last of those.
    count = remaining from to
    needed k = [check (from + k) j - from | j <- before (from + k), j >= from]
    check k j
      | j < k = j
      | otherwise = invalidValue (unwords ["Capstan.Task.parallelForAfter:", show k, "would wait for", show j ++ "; an index may wait for lesser ones"])

-- | Indices count from 0 here.
data Plan = Plan
  { workers :: !Pool,
    -- | How many indices there are.
    size :: !Int,
    -- | What an index waits for.
    needs :: Int -> [Int],
    act :: Int -> IO (),
    -- | How many members there may be.
    most :: !Int,
    lanes :: !(V.Vector Lane),
    -- | How many members there were.
    arrivals :: !AtomicInt,
    -- | Not 0 if a member has an exception.
    failed :: !AtomicInt,
    -- | Not 0 if one may sleep.
    asleep :: !AtomicInt,
    sleepers :: !(AtomicRef [Cell ()])
  }

data Lane = Lane
  { -- | 1 if somebody has it.
    taken :: !AtomicInt,
    -- | Its next index, which only who has it changes. Those before it have ended.
    upcoming :: !AtomicInt,
    -- | What an index of the lane was last seen to wait for; negative if none was.
    obstacle :: !AtomicInt
  }

-- | From one lane on, in steps of so many.
data Reach = Reach !Int !Int

whole :: Reach
whole = Reach 0 1

laneOf :: Plan -> Int -> Lane
laneOf plan k = lanes plan V.! (k `rem` V.length (lanes plan))

-- | The lanes of a member that has just come; nothing if as many came before as there may be.
arrive :: Plan -> IO (Maybe Reach)
arrive plan = do
  number <- fetchAdd (arrivals plan) 1
  pure (if number < most plan then Just (Reach number (most plan)) else Nothing)

-- | What a member does next, unless one has an exception: who has exceptions masked is not interrupted for that.
unlessFailed :: Plan -> IO (Maybe a) -> IO (Maybe a)
unlessFailed plan next = do
  over <- readAtomicInt (failed plan)
  if over /= 0 then pure Nothing else next `onException` (writeAtomicInt (failed plan) 1 >> wake plan)

-- | What a member does next, of so many; nothing if all lanes are over.
step :: Plan -> Int -> Reach -> IO (Maybe Reach)
step plan present own = do
  more <- choose >>= maybe (sleep plan) (\k -> True <$ run plan k)
  pure (if more then Just own else Nothing)
  where
    choose
      | present == 1 = takeOne plan whole
      | otherwise = briefly 20 (takeOne plan own) >>= maybe (takeOne plan whole) (pure . Just)

-- | Takes the lane of the least index that is able to run, among those of a reach, and gives the index.
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
          -- Another one may have had it meanwhile.
          if now == k then pure (Just k) else writeAtomicInt (taken (laneOf plan k)) 0 >> beyond (-1)

-- | Whether all that an index waits for has ended. Who asks again and again allocates nothing meanwhile, and so makes no collection
-- due, for which all would wait until the late one stops: the obstacle is looked at first. One that is still there was found for this
-- very index, as nothing goes on in its lane before.
isAble :: Plan -> Int -> IO Bool
isAble plan k = do
  found <- readAtomicInt (obstacle (laneOf plan k))
  gone <- if found < 0 then pure True else hasEnded found
  if gone then go (needs plan k) else pure False
  where
    go [] = pure True
    go (j : rest) = hasEnded j >>= \over -> if over then go rest else False <$ writeAtomicInt (obstacle (laneOf plan k)) j
    hasEnded j = (> j) <$> readAtomicInt (upcoming (laneOf plan j))

-- | Runs an index whose lane was taken, and wakes who sleeps.
run :: Plan -> Int -> IO ()
run plan k = do
  act plan k
  mask_ $ do
    writeAtomicInt (upcoming lane) (k + V.length (lanes plan))
    writeAtomicInt (taken lane) 0
    wake plan
  where
    lane = laneOf plan k

-- | Wakes who sleeps.
wake :: Plan -> IO ()
wake plan = do
  some <- readAtomicInt (asleep plan)
  when (some /= 0) $ do
    writeAtomicInt (asleep plan) 0
    exchange (sleepers plan) [] >>= mapM_ (`finish` Done ())

-- | Until an index has ended, or a member has an exception. False if all indices have ended, or one has.
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
