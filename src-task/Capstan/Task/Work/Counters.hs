{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}
{-# OPTIONS_GHC -optP-imacros -optPhaskell/task_layout.h #-}

-- |
-- Module      : Capstan.Task.Work.Counters
-- Description : The numbers of pushed and of ended tasks of a scope
--
-- Each Capability counts on cache lines of its own (@cmm\/task.cmm@). A push counts without an
-- atomic operation. The end of a task needs one, which costs some nanoseconds: its count must come
-- before the look whether the owner waits. A task is often pushed on one Capability and ends on
-- another, so only the sums are meaningful.
--
-- Both sums only grow. 'quiescent' first adds the counts of ended tasks, and then the counts of
-- pushed tasks. Suppose that @ended@ at time 1 equals @pushed@ at the later time 2. The number of
-- ended tasks never exceeds the number of pushed tasks, so @pushed@ had the same value at time 1:
-- no task was left then. No code outside of the scope's body and tasks pushes tasks of the scope.
-- So if no task is left once the body has ended, none will come.
--
-- The words before those lines are counters for later Capabilities, which change by atomic
-- operations. They also say whether the owner of the scope waits; threads that end a task read
-- this.
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

-- | Makes counters for the given number of Capabilities.
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

-- | Counts a task that has ended, before any later 'isWaiting' of the caller.
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

-- | Notes that the owner waits for the last task.
setWaiting :: Counters -> IO ()
setWaiting (Counters counters) = IO $ \s -> (# atomicWriteIntArray# counters waiting 1# s, () #)
  where
    !(I# waiting) = COUNTER_WAITING

-- | Whether the owner waits. The swap of 'countEnded' stays before this read, also on AArch64: the
-- read is sequentially consistent.
isWaiting :: Counters -> IO Bool
isWaiting (Counters counters) = IO $ \s -> case atomicReadIntArray# counters waiting s of
  (# s1, n #) -> (# s1, isTrue# n #)
  where
    !(I# waiting) = COUNTER_WAITING
