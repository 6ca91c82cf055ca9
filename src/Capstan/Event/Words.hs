{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Event.Words
-- Description : Numbers that threads change without locks
--
-- An 'Data.IORef.IORef' of a number costs an object for each change, and twice as many for an atomic one.
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

-- | So many numbers, from 0.
data Words = Words (MutableByteArray# RealWorld)

instance Eq Words where
  Words a == Words b = isTrue# (sameMutableByteArray# a b)

-- | So many, each the same at first.
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

-- | Replaces the first value by the second. 'False': it is another. A full barrier.
casWord :: Words -> Int -> Int -> Int -> IO Bool
casWord (Words array) (I# i) (I# old) (I# new) = IO $ \s -> case casIntArray# array i old new s of
  (# s1, found #) -> (# s1, isTrue# (found ==# old) #)
{-# INLINE casWord #-}
