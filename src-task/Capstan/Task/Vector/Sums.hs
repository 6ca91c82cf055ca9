{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Task.Vector.Sums
-- Description : Prefix sums, computed by C for numbers in memory
--
-- A scan moves each element through the processor twice and does little with it. For unboxed and
-- storable vectors of the usual number types, C code computes the blocks (runtime/haskell/sums.c).
-- It can write large results past the caches, and so moves a third less data. GHC's rewrite rules
-- put this code in place of 'prefixSum' if the types are known. 'parallelScan' scans all other
-- vectors.
module Capstan.Task.Vector.Sums
  ( prefixSum,
    Summand,
    unboxedSums,
    storableSums,
  )
where

import Capstan.Task.Vector.Scan
import Control.Monad.Primitive (touch)
import Data.Coerce (coerce)
import Data.Int (Int32, Int64)
import Data.Maybe (fromMaybe)
import qualified Data.Primitive.ByteArray as A
import qualified Data.Vector.Generic as V
import qualified Data.Vector.Primitive as P
import qualified Data.Vector.Storable as S
import qualified Data.Vector.Storable.Mutable as SM
import qualified Data.Vector.Unboxed as U
import qualified Data.Vector.Unboxed.Base as U
import Data.Word (Word32, Word64)
import Foreign (Ptr, Storable, advancePtr, alloca, castPtr, peek, poke, sizeOf)
import Foreign.C.Types (CBool (..), CSize (..))
import System.IO.Unsafe (unsafePerformIO)

-- | @'parallelScan' (+)@, for unboxed, storable and other vectors. For unboxed and storable vectors
-- of 'Int', 'Word', 'Float', 'Double', or integers of 32 or 64 bits, a result of 16 MB or more is
-- written past the caches. The rounding of floating-point sums depends only on the length: each run
-- gives the same bits, on any number of Capabilities.
--
-- > sums = prefixSum (fromList [3, 1, 4, 1, 5]) -- fromList [3, 4, 8, 9, 14]
prefixSum :: (V.Vector v a, Num a) => v a -> v a
prefixSum = parallelScan (+)
{-# INLINE [1] prefixSum #-}

{-# RULES
"prefixSum/unboxed Int" prefixSum = coerce (unboxedSums :: P.Vector Int -> P.Vector Int) :: U.Vector Int -> U.Vector Int
"prefixSum/unboxed Int32" prefixSum = coerce (unboxedSums :: P.Vector Int32 -> P.Vector Int32) :: U.Vector Int32 -> U.Vector Int32
"prefixSum/unboxed Int64" prefixSum = coerce (unboxedSums :: P.Vector Int64 -> P.Vector Int64) :: U.Vector Int64 -> U.Vector Int64
"prefixSum/unboxed Word" prefixSum = coerce (unboxedSums :: P.Vector Word -> P.Vector Word) :: U.Vector Word -> U.Vector Word
"prefixSum/unboxed Word32" prefixSum = coerce (unboxedSums :: P.Vector Word32 -> P.Vector Word32) :: U.Vector Word32 -> U.Vector Word32
"prefixSum/unboxed Word64" prefixSum = coerce (unboxedSums :: P.Vector Word64 -> P.Vector Word64) :: U.Vector Word64 -> U.Vector Word64
"prefixSum/unboxed Float" prefixSum = coerce (unboxedSums :: P.Vector Float -> P.Vector Float) :: U.Vector Float -> U.Vector Float
"prefixSum/unboxed Double" prefixSum = coerce (unboxedSums :: P.Vector Double -> P.Vector Double) :: U.Vector Double -> U.Vector Double
"prefixSum/storable Int" prefixSum = storableSums :: S.Vector Int -> S.Vector Int
"prefixSum/storable Int32" prefixSum = storableSums :: S.Vector Int32 -> S.Vector Int32
"prefixSum/storable Int64" prefixSum = storableSums :: S.Vector Int64 -> S.Vector Int64
"prefixSum/storable Word" prefixSum = storableSums :: S.Vector Word -> S.Vector Word
"prefixSum/storable Word32" prefixSum = storableSums :: S.Vector Word32 -> S.Vector Word32
"prefixSum/storable Word64" prefixSum = storableSums :: S.Vector Word64 -> S.Vector Word64
"prefixSum/storable Float" prefixSum = storableSums :: S.Vector Float -> S.Vector Float
"prefixSum/storable Double" prefixSum = storableSums :: S.Vector Double -> S.Vector Double
  #-}

-- | Types of numbers that the C code adds.
class (Num a, P.Prim a, Storable a) => Summand a where
  sums :: Sums a

  -- | Whether sums of this type do not round: they are exact, or wrap around.
  exact :: a -> Bool
  exact _ = True

-- | See runtime/haskell/sums.h.
type Sums a = Ptr a -> Ptr a -> CSize -> a -> Ptr a -> CSize -> Ptr a -> CBool -> IO a

instance Summand Int where sums = sumsInt

instance Summand Int32 where sums = sumsInt32

instance Summand Int64 where sums = sumsInt64

instance Summand Word where sums = sumsWord

instance Summand Word32 where sums = sumsWord32

instance Summand Word64 where sums = sumsWord64

instance Summand Float where
  sums = sumsFloat
  exact _ = False

instance Summand Double where
  sums = sumsDouble
  exact _ = False

foreign import ccall unsafe "cst_sums_i64" sumsInt :: Sums Int

foreign import ccall unsafe "cst_sums_i32" sumsInt32 :: Sums Int32

foreign import ccall unsafe "cst_sums_i64" sumsInt64 :: Sums Int64

foreign import ccall unsafe "cst_sums_i64" sumsWord :: Sums Word

foreign import ccall unsafe "cst_sums_i32" sumsWord32 :: Sums Word32

foreign import ccall unsafe "cst_sums_i64" sumsWord64 :: Sums Word64

foreign import ccall unsafe "cst_sums_f32" sumsFloat :: Sums Float

foreign import ccall unsafe "cst_sums_f64" sumsDouble :: Sums Double

-- | The sums of an unboxed vector. C code can use its array if the collector does not move it: if it
-- is pinned, or has a page or more. GHC 9.6.6 does not call arrays of the second kind pinned.
unboxedSums :: forall a. Summand a => P.Vector a -> P.Vector a
unboxedSums vector@(P.Vector offset n array)
  | n == 0 = vector
  | not (A.isByteArrayPinned array || A.sizeofByteArray array >= 4096) = V.scanl1' (+) vector
  | otherwise = unsafePerformIO $ do
    result <- A.newPinnedByteArray (n * sizeOf (0 :: a))
    let from = castPtr (A.byteArrayContents array) :: Ptr a
    inMemory n (from `advancePtr` offset) (castPtr (A.mutableByteArrayContents result))
    touch array
    P.Vector 0 n <$> A.unsafeFreezeByteArray result

storableSums :: Summand a => S.Vector a -> S.Vector a
storableSums vector = unsafePerformIO $ do
  result <- SM.unsafeNew (S.length vector)
  S.unsafeWith vector $ \from -> SM.unsafeWith result $ \to -> inMemory (S.length vector) from to
  S.unsafeFreeze result

-- | Writes the sums of @n@ numbers at the first address to the second address.
inMemory :: forall a. Summand a => Int -> Ptr a -> Ptr a -> IO ()
inMemory n from to =
  inBlocks
    n
    Blocks
      { isExact = exact (0 :: a),
        combining = (+),
        reducing = \i end -> (\(Both _ x) -> x) <$> blocks nothing 0 0 i end,
        scanning = \before i end -> (\(Both x _) -> x) <$> blocks (fromMaybe nothing before) i end 0 0,
        scanningAndReducing = blocks . fromMaybe nothing
      }
  where
    blocks before i end later end' = alloca $ \aside -> do
      poke aside nothing
      x <- sums (to `advancePtr` i) (from `advancePtr` i) (size i end) before (from `advancePtr` later) (size later end') aside pastCaches
      Both x <$> peek aside
    size i end = fromIntegral (end - i :: Int)
    pastCaches = if n * sizeOf (0 :: a) >= cached then 1 else 0
    -- The neutral element is negative zero, because it leaves even a negative zero unchanged.
    nothing = negate 0 :: a

-- | A result with fewer bytes may stay in a cache, and is written there.
cached :: Int
cached = 16000000
