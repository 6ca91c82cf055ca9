{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Scan
-- Description : Inclusive scans of vectors
--
-- The vector is cut into blocks that fit a processor's cache, and a crew takes them in order. A block is combined to one result,
-- then scanned from where the blocks before it end; what is known of those is found by looking back (Merrill and Garland, 2016), so each
-- element comes from memory once. Reading alone leaves a processor waiting for memory, as writing alone does. Therefore a member
-- combines its next block in the same loop in which it scans the one before.
--
-- Who finds nothing about a block combines that itself after a moment. So nobody waits for one who has been interrupted, and who needs the
-- value later goes on with all that has been done.
--
-- Operands are never exchanged, so the function need not be commutative. A member that is alone scans at once, as on one
-- Capability.
module Capstan.Task.Scan
  ( parallelScan,
    prefixSum,
  )
where

import Capstan.Domain (AtomicInt, fetchAdd, newAtomicInt)
import Capstan.Task.Crew
import Capstan.Task.Fork (bothResuming)
import Capstan.Task.Scope (defaultPool)
import Capstan.Task.Wait (briefly)
import Control.Concurrent (getNumCapabilities)
import Control.Monad (when)
import Data.IORef
import qualified Data.Vector as B
import qualified Data.Vector.Generic as V
import qualified Data.Vector.Generic.Mutable as M
import System.IO.Unsafe (unsafePerformIO)

-- | The inclusive scan: element @i@ of the result combines the elements from 0 to @i@, in this order.
-- The function must be associative. Calls it about twice for each element, once on one Capability.
-- Boxed results are evaluated to weak head normal form.
--
-- > parallelScan max (fromList [3, 1, 4, 1, 5]) == fromList [3, 3, 4, 4, 5]
parallelScan :: V.Vector v a => (a -> a -> a) -> v a -> v a
parallelScan combine vector
  | n == 0 = vector
  | n < smallest = V.scanl1' combine vector
  | otherwise = unsafePerformIO $ do
    capabilities <- getNumCapabilities
    if capabilities == 1 then pure $! V.scanl1' combine vector else scanBlocks (min largest (n `quot` (8 * capabilities) + 1))
  where
    n = V.length vector
    smallest = 4096
    -- Two blocks of numbers, and what is written for one, are 1.5 MB.
    largest = 65536
    at = V.unsafeIndex vector

    scanBlocks size = do
      result <- M.unsafeNew n
      plan <- newPlan ((n + size - 1) `quot` size)
      let start k = k * size
          end k = min n (start k + size)

          -- The block by itself.
          reduce k = go (start k + 1) (at (start k))
            where
              !to = end k
              go !i !acc
                | i < to = go (i + 1) (combine acc (at i))
                | otherwise = acc

          write i !x = x <$ M.unsafeWrite result i x
          next' acc i = write i (combine acc (at i))

          -- The block from what comes before it.
          scan k before' = first k before' >>= rest k (start k + 1)
          first k before' = write (start k) (maybe id combine before' (at (start k)))
          rest k = go
            where
              !to = end k
              go !i !acc
                | i < to = next' acc i >>= go (i + 1)
                | otherwise = setMark plan k (Until acc)

          -- One block from what comes before it, and a later one by itself. Four elements at once, as there are more variables than
          -- registers.
          scanAndReduce k before' later = first k before' >>= \x -> four (start later + 1) x (at (start later))
            where
              !back = start later - start k
              !to = end later
              four !i !acc !sum'
                | i + 3 < to = do
                  x <- next' acc (i - back) >>= (`next'` (i - back + 1)) >>= (`next'` (i - back + 2)) >>= (`next'` (i - back + 3))
                  four (i + 4) x (combine (combine (combine (combine sum' (at i)) (at (i + 1))) (at (i + 2))) (at (i + 3)))
                | otherwise = one i acc sum'
              one !i !acc !sum'
                | i < to = next' acc (i - back) >>= \x -> one (i + 1) x (combine sum' (at i))
                | otherwise = setMark plan later (Only sum') >> rest k (i - back) acc
      crew (bothResuming defaultPool) defaultPool (asManyAsRun defaultPool) Nothing $ \members pending -> do
        -- Known before another block is taken: that would have to wait too.
        ready <- mapM (\c -> (,) c <$> before combine reduce plan c) pending
        k <- fetchAdd (next plan) 1
        case ready of
          _ | k >= B.length (marks plan) -> Nothing <$ mapM_ (uncurry scan) ready
          Just (c, found) -> Just (Just k) <$ scanAndReduce c found k
          Nothing -> do
            known <- if members == 1 then lookBack combine plan k else pure Nothing
            case known of
              Just found -> Just Nothing <$ scan k found
              Nothing -> Just (Just k) <$ (setMark plan k . Only $! reduce k)
      V.unsafeFreeze result
{-# INLINE parallelScan #-}

-- | @'parallelScan' (+)@, for unboxed, storable and other vectors.
prefixSum :: (V.Vector v a, Num a) => v a -> v a
prefixSum = parallelScan (+)
{-# INLINE prefixSum #-}

-- | What a crew has in common: the block that is next, and what is known of each block.
data Plan a = Plan
  { next :: !AtomicInt,
    marks :: !(B.Vector (IORef (Mark a)))
  }

-- | What is known of a block: nothing; what it comes to by itself; what all elements up to its end come to.
data Mark a
  = Unknown
  | Only !a
  | Until !a

newPlan :: Int -> IO (Plan a)
newPlan blocks = Plan <$> newAtomicInt 0 <*> B.replicateM blocks (newIORef Unknown)

setMark :: Plan a -> Int -> Mark a -> IO ()
setMark plan k mark = mark `seq` atomicWriteIORef (B.unsafeIndex (marks plan) k) mark

-- | What comes before a block, which is nothing for the first one; if it is known.
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

-- | What comes before a block. What is not known in a moment is computed here, by the function for one block.
before :: (a -> a -> a) -> (Int -> a) -> Plan a -> Int -> IO (Maybe a)
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
          let !x = reduce k
          -- Who has the block may have come further by now.
          known <- readIORef (B.unsafeIndex (marks plan) k)
          when (unknown known) (setMark plan k (Only x))
          upTo k
    unknown mark = case mark of
      Unknown -> True
      _ -> False
