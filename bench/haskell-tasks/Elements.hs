{-# LANGUAGE BangPatterns #-}

-- | A million cheap elements: the cost of the functions over containers and vectors, beside a
-- handwritten loop with 'parallelFor'.
module Elements (elements) where

import Bench
import Capstan.Task (parMap, parTraverse, parallelFor, range)
import qualified Capstan.Vector as Parallel
import Control.Exception (evaluate)
import Control.Monad (void)
import qualified Data.Vector as Boxed
import qualified Data.Vector.Mutable as BoxedMutable
import qualified Data.Vector.Unboxed as Vector
import qualified Data.Vector.Unboxed.Mutable as Mutable
import Measure

elements :: Arguments -> IO ()
elements a = do
  let numbers = [1 .. count]
  vector <- evaluate (Vector.fromList numbers)
  _ <- evaluate (sum numbers)
  report
    a
    "ms"
    inMilliseconds
    [ Measured "elements-generate" (pure (generated count)),
      Measured "elements-generate-by-hand" (pure generateByHand),
      Measured "elements-fold" (pure (folded vector)),
      Measured "elements-fold-by-hand" (pure (foldByHand vector)),
      Measured "elements-map" (pure (mapped numbers)),
      Measured "elements-traverse" (pure (parTraverse (pure . cheap) numbers >>= consume)),
      Measured "elements-by-hand" (pure (mapByHand numbers >>= consume))
    ]

count :: Int
count = 1000000

-- | A step of a generator of numbers.
cheap :: Int -> Int
cheap x = x * 6364136223846793005 + 1442695040888963407
{-# INLINE cheap #-}

consume :: [Int] -> IO ()
consume = void . evaluate . sum
{-# NOINLINE consume #-}

-- These functions are not inlined, as constants would be computed once for all samples.
generated :: Int -> IO ()
generated n = void (evaluate (Parallel.generate n cheap :: Vector.Vector Int))
{-# NOINLINE generated #-}

folded :: Vector.Vector Int -> IO ()
folded = void . evaluate . Parallel.mapReduce (+) 0 cheap
{-# NOINLINE folded #-}

mapped :: [Int] -> IO ()
mapped = consume . parMap cheap
{-# NOINLINE mapped #-}

generateByHand :: IO ()
generateByHand = do
  result <- Mutable.unsafeNew count
  parallelFor (range 0 count) $ \i -> Mutable.unsafeWrite result i (cheap i)
  void (Vector.unsafeFreeze result)
{-# NOINLINE generateByHand #-}

-- | A sum of the sums of blocks.
foldByHand :: Vector.Vector Int -> IO ()
foldByHand vector = do
  sums <- Mutable.unsafeNew blocks
  parallelFor (range 0 blocks) $ \block ->
    let end = min count ((block + 1) * size)
        go !acc i = if i < end then go (acc + cheap (Vector.unsafeIndex vector i)) (i + 1) else Mutable.unsafeWrite sums block acc
     in go 0 (block * size)
  Vector.unsafeFreeze sums >>= void . evaluate . Vector.sum
  where
    size = 2048
    blocks = (count + size - 1) `quot` size
{-# NOINLINE foldByHand #-}

mapByHand :: [Int] -> IO [Int]
mapByHand numbers = do
  let from = Boxed.fromList numbers
  result <- BoxedMutable.unsafeNew (Boxed.length from)
  parallelFor (range 0 (Boxed.length from)) $ \i -> let !x = cheap (Boxed.unsafeIndex from i) in BoxedMutable.unsafeWrite result i x
  Boxed.toList <$> Boxed.unsafeFreeze result
{-# NOINLINE mapByHand #-}
