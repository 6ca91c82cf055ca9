{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Internal.Padded
-- Description : A mutable variable that shares no line of a cache with another
--
-- Two 'Data.IORef.IORef's that one object points to are neighbours after each collection, so who writes to one takes the line of the other. An array moves as
-- a whole: only its first element is used, and the others keep what comes next two lines away.
module Capstan.Internal.Padded
  ( Padded,
    newPadded,
    readPadded,
    swapPadded,
  )
where

import GHC.Exts
import GHC.IO (IO (..))

data Padded a = Padded (SmallMutableArray# RealWorld a)

-- | Keeps the first value alive, in the elements that are not used.
newPadded :: a -> IO (Padded a)
newPadded !x = IO $ \s -> case newSmallArray# 16# x s of
  (# s1, array #) -> (# s1, Padded array #)

readPadded :: Padded a -> IO a
readPadded (Padded array) = IO (readSmallArray# array 0#)
{-# INLINE readPadded #-}

-- | As 'Capstan.Internal.Swap.swapVariable'.
swapPadded :: Padded a -> a -> a -> IO Bool
swapPadded (Padded array) old !new = IO $ \s -> case casSmallArray# array 0# old new s of
  (# s1, failed, _ #) -> (# s1, isTrue# (failed ==# 0#) #)
{-# INLINE swapPadded #-}
