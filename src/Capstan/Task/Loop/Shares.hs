{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Loop.Shares
-- Description : What is left of a loop, in a share for each member
--
-- The numbers from 0 below some other are in shares, each number in one of them until somebody takes it. A share is a range, in one word that
-- changes by compare-and-swap: who owns it takes from the front, others take the back half and make it theirs. So each member goes
-- through neighbouring numbers, and nobody stands still as long as one has numbers left that it has not begun.
--
-- == Why each number is taken once
--
-- (S1) A swap from @(next, end)@ succeeds only if the share is that range, and then the numbers taken out are in no share any more. It does not
-- matter what the share was between the look and the swap: to be that range again, it must have got those numbers again.
--
-- (S2) An empty share is changed by its owner only, so to write a range there needs no swap. The numbers are in no share meanwhile, and only
-- the owner knows of them, which begins with them at once.
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

-- | Places for shares, some of them occupied: a word each, in cache lines of their own.
data Shares = Shares !Int (MutableByteArray# RealWorld)

-- | There may be that many numbers.
largest :: Int
largest = 0x7fffffff

-- | Places for so many members. The first is occupied, and has all numbers, of which there are so many.
newShares :: Int -> Int -> IO Shares
newShares places count = do
  shares <- IO $ \s -> case newAlignedPinnedByteArray# bytes 128# s of
    (# s1, array #) -> (# setByteArray# array 0# bytes vacantByte s1, Shares places array #)
  shares <$ write shares 0 (pack 0 count)
  where
    !(I# bytes) = places * stride * 8
    !(I# vacantByte) = vacant

-- | Between the words of two places: processors fetch lines in pairs.
stride :: Int
stride = 16

-- | What stands in a place that nobody occupies. Each of its bytes is the same.
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

-- | Occupies a place, with an empty share; if there is one.
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

-- | How many numbers are left in a share.
left :: Shares -> Int -> IO Int
left shares place = size <$> look shares place

-- | The owner takes so many numbers from the front, or what is there: a half-open range, empty if there are none.
takeFront :: Shares -> Int -> Int -> IO (Int, Int)
takeFront shares place most = do
  word <- look shares place
  let next = nextOf word
      !stop = next + min most (size word)
  done <- if stop == next then pure True else swap shares place word (pack stop (endOf word))
  if done then pure (next, stop) else takeFront shares place most

-- | Takes all numbers out of a share. They are taken by nobody.
dropAll :: Shares -> Int -> IO ()
dropAll shares place = do
  word <- look shares place
  done <- swap shares place word (pack 0 0)
  if done then pure () else dropAll shares place

-- | The owner of an empty share gets the back half of another's, if there is one: the first number of it.
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
