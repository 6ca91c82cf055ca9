-- |
-- Module      : Capstan.Task.Lanes
-- Description : Loops in which an index waits for some lesser ones
--
-- The indices form as many lanes as the pool runs tasks at once. Each lane goes in order. A member of the loop's crew has a lane, and
-- stays in it while its next index is able to run; else it takes a free one whose next is. So a part of the data that is one lane's
-- stays in the cache of one processor.
--
-- As a lane goes in order, its next index says which of its indices have ended, and nothing is kept for an index.
--
-- == Why nobody waits for ever
--
-- Who waits for an index writes that down at its lane, and looks at the lane's next index again before it sleeps. Who goes on in a lane
-- writes down its next index, and then looks who waits. Both are sequentially consistent ("Capstan.Domain"), so one of them sees the
-- other.
--
-- Take the least index that has not begun. What it waits for ends, and who ends the last of that looks at all lanes afterwards. If the
-- index's lane is free then, it is found; if it has an owner, that one looks, or is blocked on something that ends, and looks
-- then.
module Capstan.Task.Lanes
  ( parallelForAfter,
  )
where

import Capstan.Domain (AtomicInt, AtomicRef, compareAndSetInt, exchange, modifyAtomic, newAtomic, newAtomicInt, readAtomicInt, writeAtomicInt)
import Capstan.Task.Cell
import Capstan.Task.Crew
import Capstan.Task.Fork (bothOn)
import Capstan.Task.Loop (Range (..))
import Capstan.Task.Pool
import Capstan.Task.Seeded (asMember)
import Control.Exception (mask_, throw)
import Control.Monad (unless, void, when)
import Data.List (partition)
import qualified Data.Vector as V

-- | Runs the body for each index, after it has ended for those lesser indices of the range that the function names: for waves that
-- cross a table, and for steps of a simulation in which a part waits for its neighbours and not for all.
--
-- > parallelForAfter (range 0 (steps * parts)) neighbours $ \index -> uncurry advance (index `quotRem` parts)
-- >   where neighbours index = let (k, part) = index `quotRem` parts in [(k - 1) * parts + (part + j) `mod` parts | j <- [-1, 0, 1]]
--
-- Indices that are 'poolSize' apart are one lane, which goes in order and stays with one worker while it can. So where there are as many
-- parts, a part stays in the cache of one processor. The size of pieces is 1. An index costs some hundred nanoseconds, and nothing is kept for it.
--
-- A body may wait in no other way for what another index does. If one throws, the others are interrupted and the exception is thrown
-- again. An index that would wait for itself or a greater one is an 'IOException'.
parallelForAfter :: Range -> (Int -> [Int]) -> (Int -> IO ()) -> IO ()
parallelForAfter (Range from to _ pool) before body = when (from < to) $ do
  width <- asMember (const (pure 3)) (poolSize pool)
  lanes' <- V.generateM (min count width) (\k -> Lane <$> newAtomicInt 0 <*> newAtomicInt k <*> newAtomic [])
  let plan = Plan {size = count, lanes = lanes', needs = needed, act = body . (from +)}
  crew (bothOn pool) pool Nothing (const (maybe (enter plan) (stay plan)))
  where
    count = to - from
    needed k = [check k (j - from) | j <- before (from + k), j >= from]
    check k j
      | j < k = j
      | otherwise = throw (userError (unwords ["Capstan.Task.parallelForAfter:", show (from + k), "would wait for", show (from + j)]))

-- | Indices count from 0 here.
data Plan = Plan
  { -- | How many indices there are.
    size :: !Int,
    lanes :: !(V.Vector Lane),
    -- | What an index waits for.
    needs :: Int -> [Int],
    act :: Int -> IO ()
  }

data Lane = Lane
  { -- | 1 if it has an owner.
    owned :: !AtomicInt,
    -- | Its next index, which its owner changes. Those before it have ended.
    upcoming :: !AtomicInt,
    -- | Who waits for one of its indices.
    sleepers :: !(AtomicRef [(Int, Cell ())])
  }

laneOf :: Plan -> Int -> Lane
laneOf plan k = lanes plan V.! (k `rem` V.length (lanes plan))

hasEnded :: Plan -> Int -> IO Bool
hasEnded plan k = (> k) <$> readAtomicInt (upcoming (laneOf plan k))

-- | What an index still waits for.
pending :: Plan -> Int -> IO [Int]
pending plan k = dropEnded (needs plan k)
  where
    dropEnded [] = pure []
    dropEnded (j : rest) = hasEnded plan j >>= \over -> if over then dropEnded rest else pure (j : rest)

-- | Takes the first free lane that is not over and of which that is true.
takeLane :: Plan -> (Int -> IO Bool) -> IO (Maybe Int)
takeLane plan suits = go 0
  where
    go n
      | n >= V.length (lanes plan) = pure Nothing
      | otherwise = do
        let Lane owner next _ = lanes plan V.! n
        owners <- readAtomicInt owner
        k <- readAtomicInt next
        good <- if owners == 0 && k < size plan then suits k else pure False
        mine <- if good then compareAndSetInt owner 0 1 else pure False
        if mine then pure (Just n) else go (n + 1)

-- | A step of a member without a lane. Who gets none ends: those that have them go on.
enter :: Plan -> IO (Maybe (Maybe Int))
enter plan = fmap Just <$> takeLane plan (const (pure True))

-- | A step of a member with a lane.
stay :: Plan -> Int -> IO (Maybe (Maybe Int))
stay plan n = do
  k <- readAtomicInt (upcoming lane)
  if k >= size plan
    then enter plan
    else briefly 20 (able k) >>= maybe (Just (Just n) <$ rest k) (go k)
  where
    lane = lanes plan V.! n
    ready = fmap null . pending plan
    able k = ready k >>= \mine -> if mine then pure (Just n) else takeLane plan ready
    go k m
      | m == n = do
        act plan k
        Just (Just n) <$ mask_ (goOn lane (k + V.length (lanes plan)))
      | otherwise = Just (Just m) <$ writeAtomicInt (owned lane) 0
    rest k = pending plan k >>= mapM_ (sleep plan) . take 1

-- | Its owner has done the lane's next index. The caller is masked.
goOn :: Lane -> Int -> IO ()
goOn lane next = do
  writeAtomicInt (upcoming lane) next
  waiting <- exchange (sleepers lane) []
  let (early, ready) = partition ((>= next) . fst) waiting
  unless (null early) . void $ modifyAtomic (sleepers lane) (early ++)
  mapM_ ((`finish` Done ()) . snd) ready

-- | Until that index has ended.
sleep :: Plan -> Int -> IO ()
sleep plan k = do
  cell <- newCell (Open Pending [])
  _ <- modifyAtomic (sleepers (laneOf plan k)) ((k, cell) :)
  over <- hasEnded plan k
  unless over $ void (wait cell)
