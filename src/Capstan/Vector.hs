{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Vector
-- Description : Vectors that are made, changed and folded in parallel
-- Stability   : experimental
--
-- The functions of @vector@ of the same names, on all Capabilities: for unboxed, storable, primitive and boxed vectors.
-- The module is meant to be imported qualified:
--
-- > import qualified Capstan.Vector as Parallel
-- > import qualified Data.Vector.Unboxed as Unboxed
-- >
-- > norm :: Unboxed.Vector Double -> Double
-- > norm = sqrt . Parallel.mapReduce (+) 0 (^ (2 :: Int))
--
-- They are pure: the value is the same in each run, to the last bit, on any number of Capabilities. Elements are evaluated to weak head normal
-- form when the vector is, so if one throws, the vector does; which of several exceptions that is, is not said. A vector whose evaluation was
-- interrupted goes on where it was.
--
-- A function that is short costs what the loop of @vector@ costs, on one Capability; but nothing is fused: each makes its vector. Work is given
-- to another Capability from some ten microseconds on. Scans are in "Capstan.Task" ('Capstan.Task.parallelScan', 'Capstan.Task.prefixSum'),
-- and so are sorts.
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

-- | The vector of so many elements that the function gives for their indices. None if the number is negative.
--
-- > squares = Parallel.generate 1000 (\i -> i * i)
generate :: Vector v a => Int -> (Int -> a) -> v a
generate count element = unsafePerformIO $ do
  result <- M.unsafeNew (max 0 count)
  unsafeParallelFor (range 0 count) $ \i -> let !x = element i in M.unsafeWrite result i x
  V.unsafeFreeze result
{-# INLINE generate #-}

-- | The function of each element.
--
-- > halves = Parallel.map (/ 2) samples
map :: (Vector v a, Vector v b) => (a -> b) -> v a -> v b
map f vector = generate (V.length vector) (f . V.unsafeIndex vector)
{-# INLINE map #-}

-- | The function of each element and its index.
--
-- > weighed = Parallel.imap (\i x -> fromIntegral i * x) samples
imap :: (Vector v a, Vector v b) => (Int -> a -> b) -> v a -> v b
imap f vector = generate (V.length vector) (\i -> f i (V.unsafeIndex vector i))
{-# INLINE imap #-}

-- | The function of the elements of both with the same index, as far as there are such.
--
-- > sums = Parallel.zipWith (+) left right
zipWith :: (Vector v a, Vector v b, Vector v c) => (a -> b -> c) -> v a -> v b -> v c
zipWith f = izipWith (const f)
{-# INLINE zipWith #-}

-- | The function of the index and the elements of both there.
--
-- > blended = Parallel.izipWith (\i x y -> if even i then x else y) left right
izipWith :: (Vector v a, Vector v b, Vector v c) => (Int -> a -> b -> c) -> v a -> v b -> v c
izipWith f as bs = generate (min (V.length as) (V.length bs)) (\i -> f i (V.unsafeIndex as i) (V.unsafeIndex bs i))
{-# INLINE izipWith #-}

-- | The elements that satisfy a condition, in their order. The condition is asked once for each.
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

-- | All elements, combined in their order. The function must be associative, if only but for rounding, and the value its neutral element.
--
-- > total = Parallel.fold (+) 0 samples
fold :: Vector v a => (a -> a -> a) -> a -> v a -> a
fold combine neutral = mapReduce combine neutral id
{-# INLINE fold #-}

-- | As 'fold', of what a function makes of the elements.
--
-- > longest = Parallel.mapReduce max 0 length texts
mapReduce :: Vector v a => (b -> b -> b) -> b -> (a -> b) -> v a -> b
mapReduce combine neutral f vector =
  unsafePerformIO (unsafeParallelForReduce (range 0 (V.length vector)) combine neutral (\i -> pure $! f (V.unsafeIndex vector i)))
{-# INLINE mapReduce #-}
