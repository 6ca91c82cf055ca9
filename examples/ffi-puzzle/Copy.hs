-- |
-- Module      : Copy Description : Bindings to a C function that copies an array: the binding of
-- 2012, and correct bindings.
module Copy
  ( signal,
    size,
    copyNew,
    copyInto,
    copyIntoMemory,
    copyAdopted,
    copyForeign,
    copyTimes,
  )
where

import Capstan.Binding (Arena, adopt, reserve, withForeignResult)
import Data.Int (Int64)
import qualified Data.Vector.Storable as V
import Foreign.C.Types (CSize (..))
import Foreign.ForeignPtr (ForeignPtr, newForeignPtr)
import Foreign.Marshal.Alloc (allocaBytes, finalizerFree, free)
import Foreign.Ptr (Ptr)
import Foreign.Storable (peekElemOff)
import System.IO.Unsafe (unsafePerformIO)

-- | The number of doubles of 2012: 128 KiB.
size :: Int
size = 16384

signal :: V.Vector Double
signal = V.generate size (sin . fromIntegral)

-- | A common binding, in 2012 and today: C allocates, and a finaliser frees.
copyNew :: V.Vector Double -> V.Vector Double
copyNew input = unsafePerformIO . V.unsafeWith input $ \from -> do
  to <- c_copy_new from (fromIntegral n)
  result <- newForeignPtr finalizerFree to
  pure (V.unsafeFromForeignPtr0 result n)
  where
    n = V.length input
{-# NOINLINE copyNew #-}

-- | The caller owns the result: memory of an arena, the same in each call. Values for use after the
-- call are read before it ends; here this is the last element.
copyInto :: Arena -> V.Vector Double -> IO Double
copyInto arena input = V.unsafeWith input $ \from ->
  reserve arena n $ \to -> c_copy_into to from (fromIntegral n) >> peekElemOff to (n - 1)
  where
    n = V.length input

-- | The result is in GHC's memory: 'Capstan.Binding.fresh' or 'Capstan.Binding.managed'.
copyIntoMemory :: (Int -> (Ptr Double -> IO ()) -> IO (ForeignPtr Double)) -> V.Vector Double -> IO (V.Vector Double)
copyIntoMemory memory input = V.unsafeWith input $ \from ->
  (`V.unsafeFromForeignPtr0` n) <$> memory n (\to -> c_copy_into to from (fromIntegral n))
  where
    n = V.length input

-- | C allocates, and a finaliser frees.
copyAdopted :: V.Vector Double -> IO (V.Vector Double)
copyAdopted input = V.unsafeWith input $ \from ->
  (`V.unsafeFromForeignPtr0` n) <$> adopt (c_copy_new from (fromIntegral n)) finalizerFree
  where
    n = V.length input

-- | C allocates; the memory is freed right after its use here.
copyForeign :: V.Vector Double -> IO Double
copyForeign input = V.unsafeWith input $ \from ->
  withForeignResult (c_copy_new from (fromIntegral n)) free (`peekElemOff` (n - 1))
  where
    n = V.length input

-- | A number of copies by C alone.
copyTimes :: V.Vector Double -> Int64 -> IO ()
copyTimes input times = V.unsafeWith input $ \from ->
  allocaBytes (8 * n) $ \to -> c_copy_times to from (fromIntegral n) (fromIntegral times)
  where
    n = V.length input

foreign import ccall unsafe "copy_new" c_copy_new :: Ptr Double -> CSize -> IO (Ptr Double)

foreign import ccall unsafe "copy_into" c_copy_into :: Ptr Double -> Ptr Double -> CSize -> IO ()

foreign import ccall safe "copy_times" c_copy_times :: Ptr Double -> Ptr Double -> CSize -> CSize -> IO ()
