{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Vector.Scan
-- Description : Inclusive scans of vectors
--
-- The vector is cut into blocks that fit a processor's cache, and a crew takes the blocks in order.
-- A member combines a block to one result, and then scans the block from the total of the blocks
-- before it. It finds this total by looking back at their results (Merrill and Garland, 2016), so
-- each element is read from memory once. A loop that only reads, or only writes, waits for memory.
-- Therefore a member combines its next block in the same loop in which it scans the block before.
--
-- The total before a block is combined from the results of whole blocks, whose bounds depend only
-- on the length. So the result has the same bits, whichever member computes a block: sums of
-- floating-point numbers are rounded in the same way in each run.
--
-- If a member finds no result of a block, it combines that block itself after a moment. So no
-- member waits for a member that was interrupted, and a thread that resumes the evaluation uses all
-- results that exist.
--
-- Operands are never exchanged, so the function need not be commutative. A member that is alone, as
-- on one Capability, scans each block at once, and combines it in the same loop for the next block.
module Capstan.Task.Vector.Scan
  ( parallelScan,
    Blocks (..),
    Both (..),
    inBlocks,
  )
where

import Capstan.Domain (AtomicInt, fetchAdd, newAtomicInt)
import Capstan.Task.Join.Scope (defaultPool)
import Capstan.Task.Loop.Crew
import Capstan.Task.Pool (serveCapabilities)
import Capstan.Task.Thread.Briefly (briefly)
import Control.Concurrent (getNumCapabilities)
import Control.Monad (forM, forM_, void, when)
import Data.IORef
import qualified Data.Vector as B
import qualified Data.Vector.Generic as V
import qualified Data.Vector.Generic.Mutable as M
import System.IO.Unsafe (unsafePerformIO)

-- | The inclusive scan: element @i@ of the result combines the elements from 0 to @i@, in this
-- order. The function must be associative. If it is associative except for rounding, the result is
-- still the same in each run, on any number of Capabilities. The scan calls the function twice for
-- each element, or once if the vector has fewer than 4096 elements. Results are evaluated to weak
-- head normal form.
--
-- > maxima = parallelScan max (fromList [3, 1, 4, 1, 5]) -- fromList [3, 3, 4, 4, 5]
parallelScan :: V.Vector v a => (a -> a -> a) -> v a -> v a
parallelScan combine vector = unsafePerformIO $ do
  result <- M.unsafeNew n
  let at = V.unsafeIndex vector
      write i !x = x <$ M.unsafeWrite result i x
      next' acc i = write i (combine acc (at i))

      reduce !from !to = go (from + 1) (at from)
        where
          go !i !acc
            | i < to = go (i + 1) (combine acc (at i))
            | otherwise = pure acc

      first before' from = write from (maybe id combine before' (at from))
      rest !to = go
        where
          go !i !acc
            | i < to = next' acc i >>= go (i + 1)
            | otherwise = pure acc

      -- Four elements at a time, because the loop has more variables than the processor has
      -- registers.
      both before' !from !to !later !end = first before' from >>= \x -> four (later + 1) x (at later)
        where
          !back = later - from
          four !i !acc !sum'
            | i + 3 < end = do
              x <- next' acc (i - back) >>= (`next'` (i - back + 1)) >>= (`next'` (i - back + 2)) >>= (`next'` (i - back + 3))
              four (i + 4) x (combine (combine (combine (combine sum' (at i)) (at (i + 1))) (at (i + 2))) (at (i + 3)))
            | otherwise = one i acc sum'
          one !i !acc !sum'
            | i < end = next' acc (i - back) >>= \x -> one (i + 1) x (combine sum' (at i))
            | otherwise = (`Both` sum') <$> rest to (i - back) acc
  inBlocks
    n
    Blocks
      { isExact = False,
        combining = combine,
        reducing = reduce,
        scanning = \before' from to -> first before' from >>= rest to (from + 1),
        scanningAndReducing = both
      }
  V.unsafeFreeze result
  where
    n = V.length vector
{-# INLINE parallelScan #-}

-- | The functions that compute blocks. A block is given by its bounds, and is never empty.
data Blocks a = Blocks
  { -- | Whether the last result of a block equals the combined results of whole blocks, to the last
    -- bit.
    isExact :: !Bool,
    combining :: a -> a -> a,
    -- | Combines a block by itself.
    reducing :: Int -> Int -> IO a,
    -- | Writes the results of a block, given the total before it, unless it is the first block.
    -- Returns the last result.
    scanning :: Maybe a -> Int -> Int -> IO a,
    -- | As 'scanning', and also combines a later block by itself, which is not longer.
    scanningAndReducing :: Maybe a -> Int -> Int -> Int -> Int -> IO (Both a)
  }

data Both a = Both !a !a

-- | Scans the given number of elements. If they are few, or on one Capability, it scans one block
-- after another.
inBlocks :: Int -> Blocks a -> IO ()
inBlocks n blocks
  | n < smallest = when (n > 0) (void (scanning blocks Nothing 0 n))
  | otherwise = do
    capabilities <- getNumCapabilities
    if capabilities == 1 then inOrder Nothing 0 else scanBlocks n size blocks
  where
    inOrder before' from = when (from < n) $ do
      x <- scanAlone blocks before' from (min n (from + size))
      inOrder (Just x) (from + size)
    smallest = 4096
    -- The size depends only on the length, and gives enough blocks for many Capabilities. Two of
    -- the largest blocks of numbers, and the results of one, take 1.5 MB.
    size = max 1024 (min 65536 (n `quot` 64))

-- | Scans a block, given the total before it. Returns the total before the next block.
scanAlone :: Blocks a -> Maybe a -> Int -> Int -> IO a
scanAlone blocks before' from to
  | isExact blocks = scanning blocks before' from to
  | otherwise = do
    Both _ x <- scanningAndReducing blocks before' from to from to
    pure (maybe id (combining blocks) before' x)

-- | Scans by a crew, in blocks of a size.
scanBlocks :: Int -> Int -> Blocks a -> IO ()
scanBlocks n size blocks = do
  plan <- newPlan count
  serveCapabilities defaultPool
  crew defaultPool (asManyAsRun defaultPool) Nothing $ \members pending -> do
    -- The total before the pending block must be known before the member takes another block, which
    -- would have to wait as well.
    ready <- forM pending $ \(c, x) -> do
      found <- before combine reduce plan c
      setMark plan c (Until (maybe id combine found x))
      pure (c, found)
    k <- fetchAdd (next plan) 1
    case ready of
      _ | k >= count -> Nothing <$ forM_ ready (\(c, found) -> uncurry (scanning blocks found) (bounds c))
      Just (c, found) -> do
        Both _ x <- uncurry (uncurry (scanningAndReducing blocks found) (bounds c)) (bounds k)
        setMark plan k (Only x)
        pure (Just (Just (k, x)))
      Nothing -> do
        known <- if members == 1 then lookBack combine plan k else pure Nothing
        case known of
          Just found -> Just Nothing <$ (uncurry (scanAlone blocks found) (bounds k) >>= setMark plan k . Until)
          Nothing -> reduce k >>= \x -> Just (Just (k, x)) <$ setMark plan k (Only x)
  where
    count = (n + size - 1) `quot` size
    combine = combining blocks
    bounds k = (k * size, min n (k * size + size))
    reduce = uncurry (reducing blocks) . bounds

-- | The state that a crew shares: the next block, and the mark of each block.
data Plan a = Plan
  { next :: !AtomicInt,
    marks :: !(B.Vector (IORef (Mark a)))
  }

-- | The known result of a block: none; the result of the block by itself; the total of all elements
-- up to its end.
data Mark a
  = Unknown
  | Only !a
  | Until !a

newPlan :: Int -> IO (Plan a)
newPlan blocks = Plan <$> newAtomicInt 0 <*> B.replicateM blocks (newIORef Unknown)

setMark :: Plan a -> Int -> Mark a -> IO ()
setMark plan k mark = mark `seq` atomicWriteIORef (B.unsafeIndex (marks plan) k) mark

-- | The total before a block, if it is known. The first block has no total before it.
lookBack :: (a -> a -> a) -> Plan a -> Int -> IO (Maybe (Maybe a))
lookBack _ _ 0 = pure (Just Nothing)
lookBack combine plan block = fmap Just <$> upTo (block - 1)
  where
    upTo k = do
      mark <- readIORef (B.unsafeIndex (marks plan) k)
      case mark of
        Until x -> pure (Just x)
        Only x
          | k == 0 -> pure (Just x)
          | otherwise -> fmap (`combine` x) <$> upTo (k - 1)
        Unknown -> pure Nothing

-- | The total before a block. Results that are not known after a moment are computed here, by the
-- function for one block.
before :: (a -> a -> a) -> (Int -> IO a) -> Plan a -> Int -> IO (Maybe a)
before combine reduce plan block = briefly 200 (lookBack combine plan block) >>= maybe (Just <$> upTo (block - 1)) pure
  where
    upTo k = do
      mark <- readIORef (B.unsafeIndex (marks plan) k)
      case mark of
        Until x -> pure x
        Only x
          | k == 0 -> pure x
          | otherwise -> (`combine` x) <$> upTo (k - 1)
        Unknown -> do
          x <- reduce k
          -- The member that has the block may have written its total by now.
          known <- readIORef (B.unsafeIndex (marks plan) k)
          when (unknown known) (setMark plan k (Only x))
          upTo k
    unknown mark = case mark of
      Unknown -> True
      _ -> False
