{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Loop.Stretch
-- Description : A sequence of actions whose rest any worker may take, even while an action blocks
--
-- The owner of a /stretch/ of indices runs the action for one index after another. The other branch
-- of a fork takes the rest: the indices that the owner has not begun. A worker runs this branch if
-- the worker is hungry, or if the owner blocks. If the owner reaches the end first, the rest is
-- empty. The worker, or /taker/, runs the back half of the rest. The owner runs the front half as
-- soon as it notices; but the front half is a branch too, which any worker may begin first. Each
-- half is a stretch again. So an action may wait for any other action. If no action blocks and no
-- worker is hungry, an index costs a write and two reads.
--
-- == Why each index is run once
--
-- (T1) The owner writes an index, checks whether the taker has called, and runs the action if not.
-- The taker calls, executes a barrier on all threads (membarrier(2)), and reads the index that the
-- owner has written. So the owner needs no barrier of its own. If the taker did not see an index,
-- the owner's check came after the barrier, so the owner sees the call.
--
-- (T2) A compare-and-swap settles the border, which is the first index of the rest, once. The owner
-- proposes the index at which it saw the call, and the taker proposes the successor of the index
-- that it has read. If the taker wins, the owner is at one of these two indices, and runs the index
-- below the border.
--
-- (T3) A worker begins the front half only after it has swapped the word of that half. Owner and
-- taker compute the same halves from the border and the end.
--
-- If the kernel has no such barrier, the indices are halved down to single indices. Later the barrier
-- fails once the program has given up system calls (seccomp). Then a collection replaces it: it
-- stops all Capabilities, so it orders the accesses of all Haskell threads as the barrier does.
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
import System.Mem (performMinorGC)

-- | Runs the action for each index below a number. An action may block, even to wait for another
-- action.
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
            if call == 0
              then offer >> action i >> go (i + 1)
              else do
                first <- settle s i
                finish i first
                keepFront s stretch first to
        -- A branch that was pushed while no worker searched is private, so it is published here.
        offer = do
          wanted <- anySearches (flags defaultPool)
          when wanted (void (publish (deques defaultPool)))
        -- At most one index is left below the border.
        finish !i !end = when (i < end) (action i >> finish (i + 1) end)
{-# INLINE each #-}

-- | Runs the indices that the owner has not begun: the back half, and the front half if the owner
-- blocks.
takeRest :: Stretch -> (Int -> Int -> IO ()) -> Int -> IO ()
takeRest s stretch to = do
  before <- look s written
  unless (before == to) $ do
    write s called 1
    done <- barrier
    -- The owner may wait for an index of the rest, so the rest cannot be left to it.
    when (done == 0) performMinorGC
    now <- look s written
    first <- settle s (min to (now + 1))
    when (first < to) (void (both (stretch (middle first to) to) (keepFront s stretch first to)))
{-# NOINLINE takeRest #-}

-- | Runs the front half of a rest, unless another worker has begun it.
keepFront :: Stretch -> (Int -> Int -> IO ()) -> Int -> Int -> IO ()
keepFront s stretch first to = when (first < middle first to) $ do
  mine <- swap s front 0 1
  when (mine == 0) (stretch first (middle first to))
{-# NOINLINE keepFront #-}

middle :: Int -> Int -> Int
middle from to = from + (to - from) `quot` 2

-- | Runs the action for each index of a range that is not empty. The range is halved down to single
-- indices.
halves :: (Int -> IO ()) -> Int -> Int -> IO ()
halves action = go
  where
    go !from !to
      | to - from == 1 = action from
      | otherwise = void (both (go from (middle from to)) (go (middle from to) to))

-- | The words that owner and taker share. These are the index that the owner has written last,
-- whether the taker has called, the border, and whether a worker has begun the front half.
data Stretch = Stretch (MutableByteArray# RealWorld)

-- | Makes a stretch whose owner has written the given index.
newStretch :: Int -> IO Stretch
newStretch first = do
  s <- IO $ \s -> case newByteArray# 32# s of (# s1, array #) -> (# s1, Stretch array #)
  write s written first
  write s called 0
  write s border unsettled
  write s front 0
  pure s

newtype Field = Field Int

written, called, border, front :: Field
written = Field 0
called = Field 1
border = Field 2
front = Field 3

-- | The border before it is settled.
unsettled :: Int
unsettled = -1

-- | A plain write. The barrier orders plain writes and reads (T1).
write :: Stretch -> Field -> Int -> IO ()
write (Stretch array) (Field (I# field)) (I# value) = IO $ \s -> (# writeIntArray# array field value s, () #)
{-# INLINE write #-}

look :: Stretch -> Field -> IO Int
look (Stretch array) (Field (I# field)) = IO $ \s -> case readIntArray# array field s of (# s1, value #) -> (# s1, I# value #)
{-# INLINE look #-}

-- | Settles the first index of the rest, unless it is settled already. Returns the border.
settle :: Stretch -> Int -> IO Int
settle s first = (\seen -> if seen == unsettled then first else seen) <$> swap s border unsettled first

-- | Writes the new value if the word has the old value. Returns the value that the word had.
swap :: Stretch -> Field -> Int -> Int -> IO Int
swap (Stretch array) (Field (I# field)) (I# old) (I# new) = IO $ \s -> case casIntArray# array field old new s of
  (# s1, seen #) -> (# s1, I# seen #)

-- | A full barrier on every thread of the process. Returns 0 if the kernel has no such barrier, or if
-- the program has given up system calls.
foreign import ccall unsafe "cst_process_barrier" barrier :: IO CBool

canCall :: Bool
canCall = unsafePerformIO ((/= 0) <$> barrier)
{-# NOINLINE canCall #-}
