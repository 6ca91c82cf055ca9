{-# LANGUAGE BangPatterns #-}

-- | A million cheap elements: the cost of the functions over containers and vectors, beside a
-- handwritten loop with 'parallelFor', and beside the same loop in C (@elements.c@).
module Elements (elements) where

import Bench
import Capstan.Task (parMap, parTraverse, parallelFor, range)
import qualified Capstan.Vector as Parallel
import Control.Exception (evaluate)
import Control.Monad (void)
import qualified Data.Vector as Boxed
import qualified Data.Vector.Mutable as BoxedMutable
import qualified Data.Vector.Storable as Storable
import qualified Data.Vector.Storable.Mutable as StorableMutable
import qualified Data.Vector.Unboxed as Vector
import qualified Data.Vector.Unboxed.Mutable as Mutable
import Foreign.C.Types (CInt (..), CLong (..))
import Foreign.Ptr (Ptr)
import Measure

foreign import ccall "bench_elements_generate"
  cGenerate :: Ptr Int -> CLong -> CInt -> IO ()

foreign import ccall "bench_elements_generate_mixed"
  cGenerateMixed :: Ptr Int -> CLong -> CInt -> IO ()

foreign import ccall "bench_elements_fold"
  cFold :: Ptr Int -> CLong -> CInt -> IO Int

foreign import ccall "bench_elements_fold_mixed"
  cFoldMixed :: Ptr Int -> CLong -> CInt -> IO Int

elements :: Arguments -> IO ()
elements a = do
  let numbers = [1 .. count]
  vector <- evaluate (Vector.fromList numbers)
  stored <- evaluate (Storable.fromList numbers)
  _ <- evaluate (sum numbers)
  let threads = fromIntegral (argThreads a)
  report
    a
    "ms"
    inMilliseconds
    [ Measured "elements-generate" (pure (generated count)),
      Measured "elements-generate-by-hand" (pure generateByHand),
      Measured "elements-generate-c" (pure (generateByC threads cGenerate)),
      Measured "elements-generate-mixed" (pure (generatedMixed count)),
      Measured "elements-generate-mixed-c" (pure (generateByC threads cGenerateMixed)),
      Measured "elements-fold" (pure (folded vector)),
      Measured "elements-fold-by-hand" (pure (foldByHand vector)),
      Measured "elements-fold-c" (pure (foldByC threads cFold stored)),
      Measured "elements-fold-mixed" (pure (foldedMixed vector)),
      Measured "elements-fold-mixed-c" (pure (foldByC threads cFoldMixed stored)),
      Measured "elements-map" (pure (mapped numbers)),
      Measured "elements-traverse" (pure (parTraverse (pure . cheap) numbers >>= consume)),
      Measured "elements-by-hand" (pure (mapByHand numbers >>= consume))
    ]
  -- The vectors live until here, whichever cases are wanted. Beside a small heap GHC gives the memory
  -- of a result back after each sample, and a sample takes 2.5 ms in place of 0.3, for page faults.
  void (evaluate (Vector.last vector + Storable.last stored))

count :: Int
count = 1000000

-- | A step of a generator of numbers, of which GHC and GCC make the same code. (GHC loads a constant
-- of 64 bits for each element; GCC makes a sum out of a multiplication by a constant.)
cheap :: Int -> Int
cheap x = x * x + 12345
{-# INLINE cheap #-}

-- | Eight steps that no compiler simplifies. Both in GHC's code and in GCC's, the time is that of the
-- multiplications: GHC's copies of registers, one for each step, cost nothing. (A step that shifts
-- as well has too many instructions for that: GHC's code took 1.2 times as long as GCC's.)
mixed :: Int -> Int
mixed = step . step . step . step . step . step . step . step
  where
    step x = x * x + 3
{-# INLINE mixed #-}

consume :: [Int] -> IO ()
consume = void . evaluate . sum
{-# NOINLINE consume #-}

-- These functions are not inlined, as constants would be computed once for all samples.
generated :: Int -> IO ()
generated n = void (evaluate (Parallel.generate n cheap :: Vector.Vector Int))
{-# NOINLINE generated #-}

generatedMixed :: Int -> IO ()
generatedMixed n = void (evaluate (Parallel.generate n mixed :: Vector.Vector Int))
{-# NOINLINE generatedMixed #-}

folded :: Vector.Vector Int -> IO ()
folded = void . evaluate . Parallel.mapReduce (+) 0 cheap
{-# NOINLINE folded #-}

foldedMixed :: Vector.Vector Int -> IO ()
foldedMixed = void . evaluate . Parallel.mapReduce (+) 0 mixed
{-# NOINLINE foldedMixed #-}

mapped :: [Int] -> IO ()
mapped = consume . parMap cheap
{-# NOINLINE mapped #-}

generateByHand :: IO ()
generateByHand = do
  result <- Mutable.unsafeNew count
  parallelFor (range 0 count) $ \i -> Mutable.unsafeWrite result i (cheap i)
  void (Vector.unsafeFreeze result)
{-# NOINLINE generateByHand #-}

-- | The result lies in memory of GHC's, as that of the other ways.
generateByC :: CInt -> (Ptr Int -> CLong -> CInt -> IO ()) -> IO ()
generateByC threads generate = do
  result <- StorableMutable.unsafeNew count
  StorableMutable.unsafeWith result (\p -> generate p (fromIntegral count) threads)
  void (Storable.unsafeFreeze result)
{-# NOINLINE generateByC #-}

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

foldByC :: CInt -> (Ptr Int -> CLong -> CInt -> IO Int) -> Storable.Vector Int -> IO ()
foldByC threads fold numbers = void (Storable.unsafeWith numbers (\p -> fold p (fromIntegral (Storable.length numbers)) threads) >>= evaluate)
{-# NOINLINE foldByC #-}

mapByHand :: [Int] -> IO [Int]
mapByHand numbers = do
  let from = Boxed.fromList numbers
  result <- BoxedMutable.unsafeNew (Boxed.length from)
  parallelFor (range 0 (Boxed.length from)) $ \i -> let !x = cheap (Boxed.unsafeIndex from i) in BoxedMutable.unsafeWrite result i x
  Boxed.toList <$> Boxed.unsafeFreeze result
{-# NOINLINE mapByHand #-}
