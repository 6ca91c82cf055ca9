{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}
{-# OPTIONS_GHC -optP-imacros -optPhaskell/task_layout.h #-}

-- |
-- Module      : Capstan.Task.Work.Counters
-- Description : How many tasks of a scope were pushed and how many have ended
--
-- Each Capability counts in cache lines of its own, without atomic operations (@cmm\/task.cmm@). A
-- task is often pushed on one Capability and ended on another, so only the sums mean something.
--
-- Both sums only grow. 'quiescent' adds up the ended ones first and the pushed ones after that. If
-- @ended@ at time 1 equals @pushed@ at the later time 2, then, since never more have ended than were
-- pushed, @pushed@ at time 1 was the same number: at time 1 no task was left. Only a task, or the
-- body of the scope, pushes tasks of a scope; so once the body is over, none is left for good.
--
-- What comes before those lines is for Capabilities that came later, by atomic operations, and tells
-- those who end a task whether the owner of the scope waits.
module Capstan.Task.Work.Counters
  ( Counters (..),
    newCounters,
    noCounters,
    countPushed,
    countEnded,
    quiescent,
    setWaiting,
    isWaiting,
  )
where

import GHC.Exts
import GHC.IO (IO (..))

-- | The counters of a scope.
data Counters = Counters (MutableByteArray# RealWorld)

foreign import prim "cst_task_countzh"
  count# ::
    MutableByteArray# RealWorld -> Int# -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Counters for that many Capabilities.
newCounters :: Int -> IO Counters
newCounters n = IO $ \s -> case newByteArray# bytes s of
  (# s1, counters #) -> (# setByteArray# counters 0# bytes 0# s1, Counters counters #)
  where
    !(I# bytes) = (n + 1) * 8 * COUNTER_WORDS

-- | Counters that count nothing.
noCounters :: IO Counters
noCounters = IO $ \s -> case newByteArray# 0# s of
  (# s1, counters #) -> (# s1, Counters counters #)

-- | Counts a task that is not pushed by 'Capstan.Task.Work.Deque.push'.
countPushed :: Counters -> IO ()
countPushed (Counters counters)
  | isTrue# (sizeofMutableByteArray# counters ==# 0#) = pure ()
  | otherwise = addAt counters COUNTER_PUSHED

-- | Counts a task that has ended.
countEnded :: Counters -> IO ()
countEnded (Counters counters) = IO $ \s -> case count# counters ended s of
  (# s1, 1# #) -> (# s1, () #)
  (# s1, _ #) -> case addAt counters COUNTER_ENDED of IO add -> add s1
  where
    !(I# ended) = COUNTER_ENDED

addAt :: MutableByteArray# RealWorld -> Int -> IO ()
addAt counters (I# i) = IO $ \s -> case fetchAddIntArray# counters i 1# s of
  (# s1, _ #) -> (# s1, () #)

-- | Whether all tasks that were pushed have ended.
quiescent :: Counters -> IO Bool
quiescent (Counters counters) = do
  ended <- total COUNTER_ENDED
  pushed <- total COUNTER_PUSHED
  pure (ended == pushed)
  where
    total :: Int -> IO Int
    total first = go first 0
    go i@(I# i#) acc
      | i >= I# (sizeofMutableByteArray# counters) `quot` 8 = pure acc
      | otherwise = do
        n <- IO $ \s -> case atomicReadIntArray# counters i# s of
          (# s1, n #) -> (# s1, I# n #)
        go (i + COUNTER_WORDS) $! acc + n

-- | Says that the owner waits for the last task.
setWaiting :: Counters -> IO ()
setWaiting (Counters counters) = IO $ \s -> (# atomicWriteIntArray# counters waiting 1# s, () #)
  where
    !(I# waiting) = COUNTER_WAITING

-- | Whether the owner waits.
isWaiting :: Counters -> IO Bool
isWaiting (Counters counters) = IO $ \s -> case readIntArray# counters waiting s of
  (# s1, n #) -> (# s1, isTrue# n #)
  where
    !(I# waiting) = COUNTER_WAITING
