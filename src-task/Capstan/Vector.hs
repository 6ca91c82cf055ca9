{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Vector
-- Description : Vectors that are made, changed and folded in parallel
-- Stability   : experimental
--
-- Functions with the names and meanings that @vector@ gives them, run on all Capabilities. They
-- work on unboxed, storable, primitive and boxed vectors. The module is meant to be imported
-- qualified:
--
-- > import qualified Capstan.Vector as Parallel
-- > import qualified Data.Vector.Unboxed as Unboxed
-- >
-- > norm :: Unboxed.Vector Double -> Double
-- > norm = sqrt . Parallel.mapReduce (+) 0 (^ (2 :: Int))
--
-- The functions are pure: the value is the same in each run, to the last bit, on any number of
-- Capabilities. The evaluation of a vector evaluates its elements to weak head normal form. If the
-- evaluation of an element throws, that of the vector throws; if several throw, it is not specified
-- which exception arrives. An evaluation that was interrupted is resumed where it stopped.
--
-- On one Capability a call costs as much as the loop of @vector@, even if the element function is
-- short. Calls are not fused: each call makes its vector. A call that takes more than some ten
-- microseconds shares its work with other Capabilities. Scans ('Capstan.Task.parallelScan',
-- 'Capstan.Task.prefixSum') and sorts are in "Capstan.Task".
--
-- @since 0.1.0
module Capstan.Vector
  ( generate,
    map,
    imap,
    zipWith,
    izipWith,
    filter,
    fold,
    mapReduce,
  )
where

import Capstan.Task.Loop.For
import qualified Data.Vector as B
import Data.Vector.Generic (Vector)
import qualified Data.Vector.Generic as V
import qualified Data.Vector.Generic.Mutable as M
import System.IO.Unsafe (unsafePerformIO)
import Prelude hiding (filter, map, zipWith)

-- | The vector with the given number of elements; the function computes each element from its
-- index. The vector is empty if the number is negative.
--
-- > squares = Parallel.generate 1000 (\i -> i * i)
generate :: Vector v a => Int -> (Int -> a) -> v a
generate count element = unsafePerformIO $ do
  result <- M.unsafeNew (max 0 count)
  unsafeParallelFor (range 0 count) $ \i -> let !x = element i in M.unsafeWrite result i x
  V.unsafeFreeze result
{-# INLINE generate #-}

-- | Applies the function to each element.
--
-- > halves = Parallel.map (/ 2) samples
map :: (Vector v a, Vector v b) => (a -> b) -> v a -> v b
map f vector = generate (V.length vector) (f . V.unsafeIndex vector)
{-# INLINE map #-}

-- | Applies the function to each index and its element.
--
-- > weighed = Parallel.imap (\i x -> fromIntegral i * x) samples
imap :: (Vector v a, Vector v b) => (Int -> a -> b) -> v a -> v b
imap f vector = generate (V.length vector) (\i -> f i (V.unsafeIndex vector i))
{-# INLINE imap #-}

-- | Applies the function to each two elements with the same index. The result is as long as the
-- shorter vector.
--
-- > sums = Parallel.zipWith (+) left right
zipWith :: (Vector v a, Vector v b, Vector v c) => (a -> b -> c) -> v a -> v b -> v c
zipWith f = izipWith (const f)
{-# INLINE zipWith #-}

-- | As 'zipWith', but the function also takes the index.
--
-- > blended = Parallel.izipWith (\i x y -> if even i then x else y) left right
izipWith :: (Vector v a, Vector v b, Vector v c) => (Int -> a -> b -> c) -> v a -> v b -> v c
izipWith f as bs = generate (min (V.length as) (V.length bs)) (\i -> f i (V.unsafeIndex as i) (V.unsafeIndex bs i))
{-# INLINE izipWith #-}

-- | The elements that satisfy a condition, in their order. The condition is evaluated once for each
-- element.
--
-- > positive = Parallel.filter (> 0) samples
filter :: Vector v a => (a -> Bool) -> v a -> v a
filter condition vector = unsafePerformIO $ do
  parts <- B.fromList <$> unsafeMapChunks (range 0 (V.length vector)) (\from to -> pure $! V.filter condition (V.unsafeSlice from (to - from) vector))
  let starts = B.scanl' (+) 0 (B.map V.length parts)
  result <- M.unsafeNew (B.last starts)
  unsafeParallelFor (range 0 (B.length parts)) $ \k -> do
    let part = B.unsafeIndex parts k
    V.unsafeCopy (M.unsafeSlice (B.unsafeIndex starts k) (V.length part) result) part
  V.unsafeFreeze result
{-# INLINE filter #-}

-- | All elements, combined in their order. The function must be associative, except for rounding
-- errors, and the value must be its neutral element.
--
-- > total = Parallel.fold (+) 0 samples
fold :: Vector v a => (a -> a -> a) -> a -> v a -> a
fold combine neutral = mapReduce combine neutral id
{-# INLINE fold #-}

-- | As 'fold', after the second function has been applied to each element.
--
-- > longest = Parallel.mapReduce max 0 length texts
mapReduce :: Vector v a => (b -> b -> b) -> b -> (a -> b) -> v a -> b
mapReduce combine neutral f vector =
  unsafePerformIO (unsafeParallelForReduce (range 0 (V.length vector)) combine neutral (\i -> pure $! f (V.unsafeIndex vector i)))
{-# INLINE mapReduce #-}
