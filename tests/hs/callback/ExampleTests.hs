{-# LANGUAGE ForeignFunctionInterface #-}

-- | The examples of the documentation.
module ExampleTests (tests) where

import Capstan.Callback
import Check
import Data.List (sort)
import Foreign.C.Types
import Foreign.Marshal.Array (peekArray, withArray)
import Foreign.Ptr (FunPtr, Ptr, nullPtr)
import Foreign.Storable (peek)

tests :: [Test]
tests = [test "integrate" integrated, test "sortDoubles" sorted]

foreign import ccall safe "integrate"
  c_integrate :: FunPtr (Double -> IO Double) -> Double -> Double -> CInt -> IO Double

integrate :: (Double -> Double) -> Double -> Double -> IO Double
integrate f from to =
  withCallback Released (\x -> pure $! f x) $ \p -> c_integrate p from to 1000

integrated :: IO ()
integrated = do
  area <- integrate sin 0 pi
  equal "area under a sine" True (abs (area - 2) < 1e-5)

foreign import ccall safe "qsort_r"
  c_qsort :: Ptr a -> CSize -> CSize -> FunPtr (Ptr a -> Ptr a -> Ptr () -> IO CInt) -> Ptr () -> IO ()

sortDoubles :: (Double -> Double -> Ordering) -> Int -> Ptr Double -> IO ()
sortDoubles order n array =
  withCallback Released compared $ \p -> c_qsort array (fromIntegral n) 8 p nullPtr
  where
    compared a b _ = asNumber <$> (order <$> peek a <*> peek b)
    asNumber o = fromIntegral (fromEnum o - 1)

sorted :: IO ()
sorted = withArray values $ \array -> do
  sortDoubles compare (length values) array
  peekArray (length values) array >>= equal "sorted" (sort values)
  where
    values = [fromIntegral (n * 7919 `mod` 1009 :: Int) | n <- [1 .. 500]]
