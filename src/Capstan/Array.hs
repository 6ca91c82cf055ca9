-- |
-- Module      : Capstan.Array
-- Description : Arrays that Haskell and C share, without a copy
-- Stability   : experimental
--
-- An 'Array' keeps its address, so Haskell code and OpenMP code both work on the same memory:
--
-- > foreign import ccall "smooth" c_smooth :: Ptr Double -> CSize -> IO ()
-- >
-- > smoothed :: Int -> IO Double
-- > smoothed n = do
-- >   samples <- Array.generate Array.CacheLine n (sin . fromIntegral)
-- >   Array.withPointer samples $ \start -> c_smooth start (fromIntegral n)
-- >   Array.read samples 0
--
-- The module is meant to be imported qualified, as above.
--
-- == Storable vectors
--
-- An array is a mutable storable vector: 'toMutable', 'fromMutable' and slices cost nothing.
-- 'unsafeFreeze' and 'unsafeThaw' cost nothing either, and are as unsafe as the functions of the
-- same names in the @vector@ package. Their array and their vector are the same memory, so do not
-- write the array while the vector is in use. 'freeze' and 'thaw' copy.
--
-- == Memory
--
-- The memory of an array belongs to GHC's collector, which neither moves nor copies it. Memory that
-- is no longer in use goes to later arrays: a program that makes and drops arrays of one size has
-- page faults in the first round only. There are no finalisers. A collection frees an array that no
-- Haskell value refers to. So if C code keeps a pointer beyond the call, put 'withPointer' around
-- all code that uses it.
--
-- == Threads
--
-- Any thread may call these functions, in a callback as well. Elements are plain memory: if two
-- threads use an element at the same time and one of them writes it, the program is wrong. A lock
-- keeps them apart, or, at no cost, the types of "Capstan.Array.Linear".
--
-- @since 0.1.0
module Capstan.Array
  ( Array,

    -- * Making
    Alignment (..),
    new,
    filled,
    generate,
    fromList,

    -- * Elements
    length,
    read,
    write,
    unsafeRead,
    unsafeWrite,
    fill,
    toList,

    -- * Parts
    slice,
    splitAt,

    -- * Giving it to C
    withPointer,
    unsafeWithPointer,
    copy,

    -- * Storable vectors
    toMutable,
    fromMutable,
    freeze,
    thaw,
    unsafeFreeze,
    unsafeThaw,
  )
where

import Capstan.Array.Internal
import Capstan.Exception (invalidValue, throwInvalid)
import qualified Data.List as List
import Data.Vector.Storable (Vector)
import qualified Data.Vector.Storable as Vector
import Data.Vector.Storable.Mutable (IOVector)
import qualified Data.Vector.Storable.Mutable as Mutable
import Foreign.Storable (Storable)
import GHC.Stack (HasCallStack)
import Prelude hiding (length, read, splitAt)

-- | An array with the given number of elements, whose contents are undefined. Throws an
-- 'Capstan.Exception.InvalidArgument' if the number is negative, or if that many elements exceed
-- the address space. GHC throws a heap overflow if memory is exhausted.
--
-- Cost: an allocation by GHC, 0.1 us, and a collection now and then. The first use of fresh memory
-- adds page faults of the kernel, 0.1 to 0.25 us per KiB.
new :: (HasCallStack, Storable a) => Alignment -> Int -> IO (Array a)
new = newAligned "Capstan.Array.new"

-- | As 'new', with every element set to the given value.
filled :: (HasCallStack, Storable a) => Alignment -> Int -> a -> IO (Array a)
filled alignment count value = do
  array <- newAligned "Capstan.Array.filled" alignment count
  fill array value
  pure array

-- | As 'new', with every element computed from its index.
generate :: (HasCallStack, Storable a) => Alignment -> Int -> (Int -> a) -> IO (Array a)
generate alignment count element = do
  array <- newAligned "Capstan.Array.generate" alignment count
  let go i
        | i >= count = pure array
        | otherwise = unsafeWrite array i (element i) >> go (i + 1)
  go 0
{-# INLINE generate #-}

-- | An array with the elements of a list.
fromList :: (HasCallStack, Storable a) => Alignment -> [a] -> IO (Array a)
fromList alignment elements = do
  array <- new alignment (List.length elements)
  mapM_ (uncurry (unsafeWrite array)) (zip [0 ..] elements)
  pure array

-- | The number of elements.
length :: Storable a => Array a -> Int
length (Array vector) = Mutable.length vector
{-# INLINE length #-}

-- | The element at an index, from 0. Throws 'Capstan.Exception.OutOfBounds' if the array has no
-- such index.
--
-- Cost: a comparison and a load.
read :: (HasCallStack, Storable a) => Array a -> Int -> IO a
read array@(Array vector) index = do
  checkIndex "Capstan.Array.read" index (length array)
  Mutable.unsafeRead vector index
{-# INLINE read #-}

-- | Sets the element at an index, from 0. Throws 'Capstan.Exception.OutOfBounds' if the array has
-- no such index.
write :: (HasCallStack, Storable a) => Array a -> Int -> a -> IO ()
write array@(Array vector) index value = do
  checkIndex "Capstan.Array.write" index (length array)
  Mutable.unsafeWrite vector index value
{-# INLINE write #-}

-- | 'read' without the comparison.
unsafeRead :: Storable a => Array a -> Int -> IO a
unsafeRead (Array vector) = Mutable.unsafeRead vector
{-# INLINE unsafeRead #-}

-- | 'write' without the comparison.
unsafeWrite :: Storable a => Array a -> Int -> a -> IO ()
unsafeWrite (Array vector) = Mutable.unsafeWrite vector
{-# INLINE unsafeWrite #-}

-- | Sets every element.
fill :: Storable a => Array a -> a -> IO ()
fill (Array vector) = Mutable.set vector
{-# INLINE fill #-}

-- | A list of the present elements.
toList :: Storable a => Array a -> IO [a]
toList array = Vector.toList <$> freeze array

-- | @slice start count array@: @count@ elements from index @start@ on, in the same memory. Throws
-- an 'Capstan.Exception.InvalidArgument' if the array does not have all of them.
slice :: (HasCallStack, Storable a) => Int -> Int -> Array a -> Array a
slice start count array@(Array vector)
  -- The vector package's own check adds start and count, and the sum may overflow.
  | start >= 0 && count >= 0 && count <= length array - start = Array (Mutable.unsafeSlice start count vector)
  | otherwise =
    invalidValue $
      "Capstan.Array.slice: " ++ show count ++ " elements from index " ++ show start ++ " of " ++ show (length array)
{-# INLINE slice #-}

-- | The given number of first elements (all, if the array has fewer), and the remaining elements.
splitAt :: Storable a => Int -> Array a -> (Array a, Array a)
splitAt count (Array vector) = case Mutable.splitAt count vector of
  (before, after) -> (Array before, Array after)
{-# INLINE splitAt #-}

-- | @copy to from@: copies all elements. Throws an 'Capstan.Exception.InvalidArgument' if the
-- lengths differ. Arrays that overlap are copied as if through a third array.
copy :: (HasCallStack, Storable a) => Array a -> Array a -> IO ()
copy toArray@(Array to) fromArray@(Array from)
  | length toArray == length fromArray = Mutable.unsafeMove to from
  | otherwise =
    throwInvalid $
      "Capstan.Array.copy: " ++ show (length fromArray) ++ " elements into " ++ show (length toArray)
{-# INLINE copy #-}

-- | The array as a vector. Free.
toMutable :: Array a -> IOVector a
toMutable (Array vector) = vector
{-# INLINE toMutable #-}

-- | The vector as an array. Free.
fromMutable :: IOVector a -> Array a
fromMutable = Array
{-# INLINE fromMutable #-}

-- | A vector with the present elements: a copy.
freeze :: Storable a => Array a -> IO (Vector a)
freeze (Array vector) = Vector.freeze vector

-- | An array with the vector's elements: a copy, on cache lines of its own.
thaw :: Storable a => Vector a -> IO (Array a)
thaw vector = do
  array <- new CacheLine (Vector.length vector)
  Vector.copy (toMutable array) vector
  pure array

-- | The array as a vector, which is the same memory: no thread may write the array any more. Free.
unsafeFreeze :: Storable a => Array a -> IO (Vector a)
unsafeFreeze (Array vector) = Vector.unsafeFreeze vector
{-# INLINE unsafeFreeze #-}

-- | The vector as an array, which is the same memory: no thread may use the vector after a write to
-- the array. Meant for C functions that only read. Free.
unsafeThaw :: Storable a => Vector a -> IO (Array a)
unsafeThaw vector = Array <$> Vector.unsafeThaw vector
{-# INLINE unsafeThaw #-}
