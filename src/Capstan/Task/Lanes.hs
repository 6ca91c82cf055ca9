-- |
-- Module      : Capstan.Task.Lanes
-- Description : Loops in which an index waits for some lesser ones
--
-- The indices form as many lanes as the pool runs tasks at once. Each lane goes in order. A member of the loop's crew has a lane, and
-- stays in it while its next index is able to run; else it takes a free one whose next is. So a part of the data that is one lane's
-- stays in the cache of one processor.
--
-- == Why nobody waits for ever
--
-- Take the least index that has not begun. What it waits for ends, and who ends the last of that looks at all lanes afterwards. If the
-- index's lane is free then, it is found; if it has an owner, that one looks, or is blocked on something that ends, and looks
-- then.
module Capstan.Task.Lanes
  ( parallelForAfter,
  )
where

import Capstan.Domain (AtomicInt, compareAndSetInt, newAtomicInt, readAtomicInt, writeAtomicInt)
import Capstan.Task.Cell
import Capstan.Task.Crew
import Capstan.Task.Fork (bothOn)
import Capstan.Task.Loop (Range (..))
import Capstan.Task.Pool
import Capstan.Task.Seeded (asMember)
import Control.Exception (mask_, throw)
import Control.Monad (when)
import qualified Data.Vector as V

-- | Runs the body for each index, after it has ended for those lesser indices of the range that the function names: for waves that
-- cross a table, and for steps of a simulation in which a part waits for its neighbours and not for all.
--
-- > parallelForAfter (range 0 (steps * parts)) neighbours $ \index -> uncurry advance (index `quotRem` parts)
-- >   where neighbours index = let (k, part) = index `quotRem` parts in [(k - 1) * parts + (part + j) `mod` parts | j <- [-1, 0, 1]]
--
-- Indices that are 'poolSize' apart are one lane, which goes in order and stays with one worker while it can. So where there are as many
-- parts, a part stays in the cache of one processor. The size of pieces is 1. An index costs some hundred nanoseconds, and about
-- 100 bytes until the loop ends.
--
-- A body may wait in no other way for what another index does. If one throws, the others are interrupted and the exception is thrown
-- again. An index that would wait for itself or a greater one is an 'IOException'.
parallelForAfter :: Range -> (Int -> [Int]) -> (Int -> IO ()) -> IO ()
parallelForAfter (Range from to _ pool) before body = when (from < to) $ do
  width <- asMember (const (pure 3)) (poolSize pool)
  ends' <- V.replicateM count (newCell (Open Pending []))
  lanes' <- V.generateM (min count width) (\k -> Lane <$> newAtomicInt 0 <*> newAtomicInt k)
  let plan = Plan {ends = ends', lanes = lanes', needs = needed, act = body . (from +)}
  crew (bothOn pool) pool Nothing (const (maybe (enter plan) (stay plan)))
  where
    count = to - from
    needed k = [check k (j - from) | j <- before (from + k), j >= from]
    check k j
      | j < k = j
      | otherwise = throw (userError (unwords ["Capstan.Task.parallelForAfter:", show (from + k), "would wait for", show (from + j)]))

-- | Indices count from 0 here.
data Plan = Plan
  { ends :: !(V.Vector (Cell ())),
    lanes :: !(V.Vector Lane),
    -- | What an index waits for.
    needs :: Int -> [Int],
    act :: Int -> IO ()
  }

data Lane = Lane
  { -- | 1 if it has an owner.
    owned :: !AtomicInt,
    -- | Its next index, which its owner changes.
    upcoming :: !AtomicInt
  }

-- | What an index still waits for.
pending :: Plan -> Int -> IO [Int]
pending plan k = dropEnded (needs plan k)
  where
    dropEnded [] = pure []
    dropEnded (j : rest) = isEnded (ends plan V.! j) >>= \over -> if over then dropEnded rest else pure (j : rest)

-- | Takes the first free lane that is not over and of which that is true.
takeLane :: Plan -> (Int -> IO Bool) -> IO (Maybe Int)
takeLane plan suits = go 0
  where
    go n
      | n >= V.length (lanes plan) = pure Nothing
      | otherwise = do
        let Lane owner next = lanes plan V.! n
        owners <- readAtomicInt owner
        k <- readAtomicInt next
        good <- if owners == 0 && k < V.length (ends plan) then suits k else pure False
        mine <- if good then compareAndSetInt owner 0 1 else pure False
        if mine then pure (Just n) else go (n + 1)

-- | A step of a member without a lane. Who gets none ends: those that have them go on.
enter :: Plan -> IO (Maybe (Maybe Int))
enter plan = fmap Just <$> takeLane plan (const (pure True))

-- | A step of a member with a lane.
stay :: Plan -> Int -> IO (Maybe (Maybe Int))
stay plan n = do
  k <- readAtomicInt (upcoming lane)
  if k >= V.length (ends plan)
    then enter plan
    else briefly 20 (able k) >>= maybe (Just (Just n) <$ rest k) (go k)
  where
    lane = lanes plan V.! n
    ready = fmap null . pending plan
    able k = ready k >>= \mine -> if mine then pure (Just n) else takeLane plan ready
    go k m
      | m == n = do
        act plan k
        mask_ (finish (ends plan V.! k) (Done ()))
        Just (Just n) <$ writeAtomicInt (upcoming lane) (k + V.length (lanes plan))
      | otherwise = Just (Just m) <$ writeAtomicInt (owned lane) 0
    rest k = pending plan k >>= mapM_ (wait . (ends plan V.!)) . take 1
