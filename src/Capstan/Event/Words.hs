{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Event.Words
-- Description : Numbers that threads change without locks
--
-- Each change of an 'Data.IORef.IORef' of a number allocates an object, and an atomic change
-- allocates two.
module Capstan.Event.Words
  ( Words,
    newWords,
    readWord,
    writeWord,
    casWord,
  )
where

import GHC.Exts
import GHC.IO (IO (..))

-- | Numbers with indices from 0.
data Words = Words (MutableByteArray# RealWorld)

instance Eq Words where
  Words a == Words b = isTrue# (sameMutableByteArray# a b)

-- | Makes the given number of numbers, each with the same first value.
newWords :: Int -> Int -> IO Words
newWords (I# count) (I# value) = IO $ \s -> case newByteArray# (count *# 8#) s of
  (# s1, array #) -> case fill array 0# s1 of s2 -> (# s2, Words array #)
  where
    fill array i s
      | isTrue# (i ==# count) = s
      | otherwise = fill array (i +# 1#) (writeIntArray# array i value s)

readWord :: Words -> Int -> IO Int
readWord (Words array) (I# i) = IO $ \s -> case readIntArray# array i s of
  (# s1, value #) -> (# s1, I# value #)
{-# INLINE readWord #-}

writeWord :: Words -> Int -> Int -> IO ()
writeWord (Words array) (I# i) (I# value) = IO $ \s -> (# writeIntArray# array i value s, () #)
{-# INLINE writeWord #-}

-- | Replaces the first value by the second. Returns 'False' if the number has another value. It is
-- a full barrier.
casWord :: Words -> Int -> Int -> Int -> IO Bool
casWord (Words array) (I# i) (I# old) (I# new) = IO $ \s -> case casIntArray# array i old new s of
  (# s1, found #) -> (# s1, isTrue# (found ==# old) #)
{-# INLINE casWord #-}
