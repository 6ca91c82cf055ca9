-- | A Fourier transform of a square by FFTW, with OpenMP, and back.
module Transform (calls) where

import Control.Concurrent.MVar (MVar, newMVar, withMVar)
import Control.Exception (bracket)
import Control.Monad (unless)
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Storable.Mutable as M
import Foreign.C (CInt (..), CUInt (..))
import Foreign.Ptr (Ptr, nullPtr)
import Oracle
import System.IO.Unsafe (unsafePerformIO)

data CPlan

-- | Each call with its name.
calls :: Problem -> [(String, IO ())]
calls p = [("FFTW, safe", there safe_execute), ("FFTW, unsafe", there unsafe_execute)]
  where
    there = thereAndBack (size p) numbers
    -- Complex numbers: each has an imaginary part.
    numbers = V.generate (2 * size p * size p) (\k -> if even k then left p V.! (k `div` 2) else 0)

thereAndBack :: Int -> V.Vector Double -> (Ptr CPlan -> IO ()) -> IO ()
thereAndBack n numbers execute = do
  given <- V.thaw numbers
  spectrum <- M.replicate (V.length numbers) (0 / 0)
  result <- M.replicate (V.length numbers) (0 / 0)
  transform given spectrum forward
  -- The first number of the spectrum is the sum of all numbers.
  constant <- M.read spectrum 0
  agree "the sum" (V.singleton (V.sum numbers)) (V.singleton constant)
  transform spectrum result backward
  V.unsafeFreeze result >>= agree "there and back" numbers . V.map (/ fromIntegral (n * n))
  where
    (forward, backward) = (-1, 1)
    transform from to direction =
      M.unsafeWith from $ \a -> M.unsafeWith to $ \b ->
        bracket (planned a b direction) (withMVar planner . const . c_destroy) execute
    -- Only one thread at a time may make plans.
    planned a b direction = withMVar planner $ \_ -> do
      ready <- c_init
      unless (ready /= 0) (error "fftw_init_threads")
      c_threads 2
      plan <- c_plan (fromIntegral n) (fromIntegral n) a b direction estimate
      if plan == nullPtr then error "fftw_plan_dft_2d" else pure plan
    estimate = 64

planner :: MVar ()
planner = unsafePerformIO (newMVar ())
{-# NOINLINE planner #-}

foreign import ccall safe "fftw_init_threads" c_init :: IO CInt

foreign import ccall safe "fftw_plan_with_nthreads" c_threads :: CInt -> IO ()

foreign import ccall safe "fftw_plan_dft_2d" c_plan :: CInt -> CInt -> Ptr Double -> Ptr Double -> CInt -> CUInt -> IO (Ptr CPlan)

foreign import ccall safe "fftw_destroy_plan" c_destroy :: Ptr CPlan -> IO ()

foreign import ccall safe "fftw_execute" safe_execute :: Ptr CPlan -> IO ()

foreign import ccall unsafe "fftw_execute" unsafe_execute :: Ptr CPlan -> IO ()
