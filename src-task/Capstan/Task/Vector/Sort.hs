{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Vector.Sort
-- Description : A stable parallel merge sort, in place by way of one buffer
--
-- Halves are sorted in parallel and merged in parallel. A merge cuts the longer run in the middle,
-- and the other run where the middle element belongs. The two smaller merges are branches of a
-- fork. Small pieces are sorted by insertion. Elements move between the vector and the buffer at
-- each level, so no element is copied twice.
module Capstan.Task.Vector.Sort
  ( parallelSort,
    parallelSortBy,
  )
where

import Capstan.Task.Join.Fork (unsafeBoth)
import Control.Monad (void, when)
import Control.Monad.Primitive (PrimBase, PrimState)
import qualified Data.Vector.Generic.Mutable as M

-- | Sorts a vector. Equal elements keep their order, so the result does not depend on the schedule.
-- Allocates a buffer of the same size.
--
-- > sorted = modify parallelSort unsorted
parallelSort :: (PrimBase m, M.MVector v a, Ord a) => v (PrimState m) a -> m ()
parallelSort = parallelSortBy compare
{-# INLINE parallelSort #-}

-- | As 'parallelSort', by a comparison function. If the function throws, some elements may be in
-- the vector twice and others not at all.
parallelSortBy :: (PrimBase m, M.MVector v a) => (a -> a -> Ordering) -> v (PrimState m) a -> m ()
parallelSortBy order vector = do
  buffer <- M.unsafeNew (M.length vector)
  sortInto order False vector buffer
{-# INLINE parallelSortBy #-}

-- | Below the first length, the sort uses insertion. Below the second, it sorts and merges without
-- a fork.
insertionBelow, forkBelow :: Int
insertionBelow = 24
forkBelow = 2048

-- | Sorts the first vector, into the second if the flag is 'True', else in place. Both are
-- overwritten.
sortInto ::
  (PrimBase m, M.MVector v a) =>
  (a -> a -> Ordering) ->
  Bool ->
  v (PrimState m) a ->
  v (PrimState m) a ->
  m ()
sortInto order = go
  where
    go into vector buffer
      | n < insertionBelow = do
        insertionSort order vector
        when into (M.unsafeCopy buffer vector)
      | otherwise = do
        let join' = if n < forkBelow then (>>) else \left right -> void (unsafeBoth left right)
        sortHalf 0 middle `join'` sortHalf middle (n - middle)
        let (from, target) = if into then (vector, buffer) else (buffer, vector)
        mergeInto order (M.unsafeSlice 0 middle from) (M.unsafeSlice middle (n - middle) from) target
      where
        n = M.length vector
        middle = n `quot` 2
        sortHalf at size = go (not into) (M.unsafeSlice at size vector) (M.unsafeSlice at size buffer)
{-# INLINE sortInto #-}

insertionSort :: (PrimBase m, M.MVector v a) => (a -> a -> Ordering) -> v (PrimState m) a -> m ()
insertionSort order vector = go 1
  where
    go !i = when (i < M.length vector) $ do
      x <- M.unsafeRead vector i
      sink i x
      go (i + 1)
    sink !i x
      | i == 0 = M.unsafeWrite vector 0 x
      | otherwise = do
        y <- M.unsafeRead vector (i - 1)
        if order y x == GT
          then M.unsafeWrite vector i y >> sink (i - 1) x
          else M.unsafeWrite vector i x
{-# INLINE insertionSort #-}

-- | Merges two sorted vectors. Of equal elements, those of the first vector come first.
mergeInto ::
  (PrimBase m, M.MVector v a) =>
  (a -> a -> Ordering) ->
  v (PrimState m) a ->
  v (PrimState m) a ->
  v (PrimState m) a ->
  m ()
mergeInto order = go
  where
    go as bs target
      | M.length target < forkBelow = mergeHere order as bs target
      | M.length as >= M.length bs = do
        let i = M.length as `quot` 2
        x <- M.unsafeRead as i
        j <- firstWhere (\y -> order y x /= LT) bs
        cut i j
      | otherwise = do
        let j = M.length bs `quot` 2
        y <- M.unsafeRead bs j
        i <- firstWhere (\x -> order x y == GT) as
        cut i j
      where
        cut i j =
          void $
            unsafeBoth
              (go (M.unsafeTake i as) (M.unsafeTake j bs) (M.unsafeTake (i + j) target))
              (go (M.unsafeDrop i as) (M.unsafeDrop j bs) (M.unsafeDrop (i + j) target))
{-# INLINE mergeInto #-}

-- | The first index whose element satisfies a condition. All later elements must satisfy it, too.
firstWhere :: (PrimBase m, M.MVector v a) => (a -> Bool) -> v (PrimState m) a -> m Int
firstWhere condition vector = go 0 (M.length vector)
  where
    go !from !to
      | from >= to = pure from
      | otherwise = do
        let middle = (from + to) `quot` 2
        x <- M.unsafeRead vector middle
        if condition x then go from middle else go (middle + 1) to
{-# INLINE firstWhere #-}

mergeHere ::
  (PrimBase m, M.MVector v a) =>
  (a -> a -> Ordering) ->
  v (PrimState m) a ->
  v (PrimState m) a ->
  v (PrimState m) a ->
  m ()
mergeHere order as bs target = go 0 0
  where
    go !i !j
      | i == M.length as = M.unsafeCopy (M.unsafeDrop (i + j) target) (M.unsafeDrop j bs)
      | j == M.length bs = M.unsafeCopy (M.unsafeDrop (i + j) target) (M.unsafeDrop i as)
      | otherwise = do
        x <- M.unsafeRead as i
        y <- M.unsafeRead bs j
        if order x y == GT
          then M.unsafeWrite target (i + j) y >> go i (j + 1)
          else M.unsafeWrite target (i + j) x >> go (i + 1) j
{-# INLINE mergeHere #-}
