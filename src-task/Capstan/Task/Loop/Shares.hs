{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Loop.Shares
-- Description : The rest of a loop, in a share for each member
--
-- Shares hold the numbers from 0 up to a count. Each number is in one share until a member takes
-- it. A share is a range, in one word that changes by compare-and-swap. Its owner takes numbers
-- from the front; another member takes the back half as its own share. So each member runs
-- neighbouring numbers, and no member stands still while another has numbers that it has not begun.
--
-- == Why each number is taken once
--
-- (S1) A swap from @(next, end)@ succeeds only if the share is that range. Then the numbers that
-- were taken out are in no share any more. The share may have changed between the read and the
-- swap: to be that range again, it must have got those numbers again.
--
-- (S2) Only the owner changes an empty share, so it writes a range there without a swap. Before
-- this write the numbers are in no share, and only the owner knows them.
module Capstan.Task.Loop.Shares
  ( Shares,
    largest,
    newShares,
    occupy,
    vacate,
    left,
    takeFront,
    dropAll,
    steal,
  )
where

import Data.Bits (unsafeShiftL, unsafeShiftR, (.&.), (.|.))
import GHC.Exts
import GHC.IO (IO (..))

-- | Places for shares, some of which are occupied. Each place is a word on cache lines of its own.
data Shares = Shares !Int (MutableByteArray# RealWorld)

-- | The largest count of numbers.
largest :: Int
largest = 0x7fffffff

-- | Makes places for a number of members. The first place is occupied, and has all numbers below
-- the count.
newShares :: Int -> Int -> IO Shares
newShares places count = do
  shares <- IO $ \s -> case newAlignedPinnedByteArray# bytes 128# s of
    (# s1, array #) -> (# setByteArray# array 0# bytes vacantByte s1, Shares places array #)
  shares <$ write shares 0 (pack 0 count)
  where
    !(I# bytes) = places * stride * 8
    !(I# vacantByte) = vacant

-- | The distance between the words of two places: two cache lines, because processors fetch lines
-- in pairs.
stride :: Int
stride = 16

-- | The word of a place that no member occupies. All its bytes are equal.
vacant :: Int
vacant = -1

pack :: Int -> Int -> Int
pack next end = (next `unsafeShiftL` 32) .|. end

nextOf, endOf, size :: Int -> Int
nextOf word = word `unsafeShiftR` 32
endOf word = word .&. 0xffffffff
size word = if word == vacant then 0 else endOf word - nextOf word

look :: Shares -> Int -> IO Int
look (Shares _ array) place = IO $ \s -> case atomicReadIntArray# array i s of (# s1, word #) -> (# s1, I# word #)
  where
    !(I# i) = place * stride

write :: Shares -> Int -> Int -> IO ()
write (Shares _ array) place (I# word) = IO $ \s -> (# atomicWriteIntArray# array i word s, () #)
  where
    !(I# i) = place * stride

swap :: Shares -> Int -> Int -> Int -> IO Bool
swap (Shares _ array) place (I# old) (I# new) = IO $ \s -> case casIntArray# array i old new s of
  (# s1, seen #) -> (# s1, isTrue# (seen ==# old) #)
  where
    !(I# i) = place * stride

-- | Occupies a vacant place with an empty share, if there is a vacant place.
occupy :: Shares -> IO (Maybe Int)
occupy shares@(Shares places _) = go 0
  where
    go place
      | place == places = pure Nothing
      | otherwise = do
        won <- look shares place >>= \word -> if word == vacant then swap shares place vacant (pack 0 0) else pure False
        if won then pure (Just place) else go (place + 1)

-- | Leaves a place, whose share is empty.
vacate :: Shares -> Int -> IO ()
vacate shares place = write shares place vacant

-- | The number of numbers in a share.
left :: Shares -> Int -> IO Int
left shares place = size <$> look shares place

-- | The owner takes a number of numbers from the front, or all if the share has fewer. Returns a
-- half-open range, which is empty if the share is empty.
takeFront :: Shares -> Int -> Int -> IO (Int, Int)
takeFront shares place most = do
  word <- look shares place
  let next = nextOf word
      !stop = next + min most (size word)
  done <- if stop == next then pure True else swap shares place word (pack stop (endOf word))
  if done then pure (next, stop) else takeFront shares place most

-- | Drops all numbers of a share: no member runs them.
dropAll :: Shares -> Int -> IO ()
dropAll shares place = do
  word <- look shares place
  done <- swap shares place word (pack 0 0)
  if done then pure () else dropAll shares place

-- | The owner of an empty share takes the back half of another share, if one is not empty. Returns
-- the first number of that half.
steal :: Shares -> Int -> IO (Maybe Int)
steal shares@(Shares places _) mine = go 1
  where
    go n
      | n == places = pure Nothing
      | otherwise = do
        let other = (mine + n) `rem` places
        word <- look shares other
        if size word == 0
          then go (n + 1)
          else do
            let middle = endOf word - (size word + 1) `quot` 2
            done <- swap shares other word (pack (nextOf word) middle)
            if done then Just middle <$ write shares mine (pack middle (endOf word)) else go n
