{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Scan
-- Description : Inclusive scans of vectors
--
-- The vector is cut into blocks. Each block but the last is reduced in parallel, the results are scanned
-- from left to right, and then each block is scanned in parallel from where the blocks before it end.
-- Operands are never exchanged, so the function need not be commutative. On one Capability there is one
-- block, which is a plain scan.
module Capstan.Task.Scan
  ( parallelScan,
    prefixSum,
  )
where

import Capstan.Task.Loop
import Control.Concurrent (getNumCapabilities)
import Control.Monad (when)
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
    if capabilities == 1 then pure $! V.scanl1' combine vector else scanBlocks (4 * capabilities)
  where
    n = V.length vector
    smallest = 4096
    scanBlocks blocks = do
      result <- M.unsafeNew n
      let size = (n + blocks - 1) `quot` blocks
          start i = min n (i * size)
          block i = V.unsafeSlice (start i) (start (i + 1) - start i) vector
          loop !j to !acc = when (j < to) $ do
            let !x = combine acc (V.unsafeIndex vector j)
            M.unsafeWrite result j x
            loop (j + 1) to x
          reduce i _ = pure $! V.foldl1' combine (block i)
          used = (n + size - 1) `quot` size
      sums <- mapChunks (chunk 1 (range 0 (used - 1))) reduce
      let ends = B.scanl1' combine (B.fromList sums)
          scanBlock i _
            | i == 0 = do
              let x = V.unsafeHead vector
              M.unsafeWrite result 0 x
              loop 1 (start 1) x
            | otherwise = loop (start i) (start (i + 1)) (B.unsafeIndex ends (i - 1))
      _ <- mapChunks (chunk 1 (range 0 used)) scanBlock
      V.unsafeFreeze result
{-# INLINE parallelScan #-}

-- | @'parallelScan' (+)@, for unboxed, storable and other vectors.
prefixSum :: (V.Vector v a, Num a) => v a -> v a
prefixSum = parallelScan (+)
{-# INLINE prefixSum #-}
