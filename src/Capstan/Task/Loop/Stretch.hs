{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Loop.Stretch
-- Description : Actions one after another, the rest of which anyone may take, also while one of them blocks
--
-- The owner of a /stretch/ of indices runs the action for one after another. The other branch of a fork, beside it, takes the rest: what the owner
-- has not begun. A worker runs that branch if it is hungry, or if the owner blocks; and if the owner comes to the end before, there is no
-- rest. The rest is divided by halves, each of which is a stretch again. So an action may wait for what any other one does, and where
-- none blocks and nobody is hungry, an index costs a write and two looks.
--
-- == Why each index is run once
--
-- (T1) The owner writes an index down, looks whether it was called, and runs the action if not. Who takes the rest calls, has a barrier on all
-- threads (membarrier(2)), and reads what the owner has written. So the owner needs no barrier: an index that was not read was
-- written after it, or hardly before, and then the owner's look came after it and sees the call.
--
-- (T2) Which index is the first of the rest is settled by compare-and-swap, once. The owner says: the one at which it saw the call. Who takes the
-- rest says: the one after that which it has read. In the second case the owner is at one of the two, and runs the first if it has
-- not done so yet.
--
-- Where the kernel has no such barrier, indices are divided by halves down to single ones.
module Capstan.Task.Loop.Stretch
  ( each,
  )
where

import Capstan.Task.Join.Fork (both)
import Capstan.Task.Join.Scope (defaultPool)
import Capstan.Task.Pool (Pool (deques, flags))
import Capstan.Task.Pool.Scout (anySearches)
import Capstan.Task.Thread.Seeded (asMember)
import Capstan.Task.Work.Deque (publish)
import Control.Monad (unless, void, when)
import Foreign.C.Types (CBool (..))
import GHC.Exts
import GHC.IO (IO (..))
import System.IO.Unsafe (unsafePerformIO)

-- | Runs the action for each index below a number. Each may block, also for what another one does.
each :: Int -> (Int -> IO ()) -> IO ()
each count action = when (count > 0) $ asMember (const (halves action 0 count)) (if canCall then stretch 0 count else halves action 0 count)
  where
    stretch !from !to
      | to - from == 1 = action from
      | otherwise = do
        s <- newStretch (from - 1)
        void (both (own s from to) (takeRest s stretch to))
    own s !from !to = go from
      where
        go !i
          | i >= to = write s written to
          | otherwise = do
            write s written i
            call <- look s called
            if call == 0 then offer >> action i >> go (i + 1) else settle s i >>= finish i
        -- A branch that was pushed when nobody looked for one is private.
        offer = do
          wanted <- anySearches (flags defaultPool)
          when wanted (void (publish (deques defaultPool)))
        -- It is at one index more at most, or at all of them if the barrier has failed.
        finish !i !end = when (i < end) (action i >> finish (i + 1) end)
{-# INLINE each #-}

-- | Runs what the owner has not begun, in two halves.
takeRest :: Stretch -> (Int -> Int -> IO ()) -> Int -> IO ()
takeRest s stretch to = do
  before <- look s written
  unless (before == to) $ do
    write s called 1
    done <- barrier
    now <- look s written
    first <- settle s (if done /= 0 then min to (now + 1) else to)
    case to - first of
      0 -> pure ()
      1 -> stretch first to
      n -> let middle = first + n `quot` 2 in void (both (stretch first middle) (stretch middle to))
{-# NOINLINE takeRest #-}

-- | The action for each index of a range that is not empty, which is divided by halves down to single ones.
halves :: (Int -> IO ()) -> Int -> Int -> IO ()
halves action = go
  where
    go !from !to
      | to - from == 1 = action from
      | otherwise = let middle = (from + to) `quot` 2 in void (both (go from middle) (go middle to))

-- | What owner and taker have in common, in words of their own: the index that the owner has written down last; whether it was called; and the first
-- index of the rest, when that is settled.
data Stretch = Stretch (MutableByteArray# RealWorld)

-- | A stretch whose owner has written that.
newStretch :: Int -> IO Stretch
newStretch first = do
  s <- IO $ \s -> case newByteArray# 24# s of (# s1, array #) -> (# s1, Stretch array #)
  write s written first
  write s called 0
  write s border unsettled
  pure s

newtype Field = Field Int

written, called, border :: Field
written = Field 0
called = Field 1
border = Field 2

-- | No index.
unsettled :: Int
unsettled = -1

-- | A plain write, and a plain look: what orders them is the barrier (T1).
write :: Stretch -> Field -> Int -> IO ()
write (Stretch array) (Field (I# field)) (I# value) = IO $ \s -> (# writeIntArray# array field value s, () #)
{-# INLINE write #-}

look :: Stretch -> Field -> IO Int
look (Stretch array) (Field (I# field)) = IO $ \s -> case readIntArray# array field s of (# s1, value #) -> (# s1, I# value #)
{-# INLINE look #-}

-- | Settles the first index of the rest, unless that was done; the answer is which it is.
settle :: Stretch -> Int -> IO Int
settle (Stretch array) proposed@(I# first) = IO $ \s -> case casIntArray# array field before first s of
  (# s1, seen #) -> (# s1, if I# seen == unsettled then proposed else I# seen #)
  where
    !(Field (I# field)) = border
    !(I# before) = unsettled

-- | A full barrier on every thread of the process. 0 where the kernel has none.
foreign import ccall unsafe "cst_process_barrier" barrier :: IO CBool

canCall :: Bool
canCall = unsafePerformIO ((/= 0) <$> barrier)
{-# NOINLINE canCall #-}
