{-# LANGUAGE BangPatterns #-}
{-# OPTIONS_GHC -O2 #-}

-- |
-- Module      : Lattice
-- Description : The lattice structure of a wavelet transform, five times: see lattice.h.
--
-- All implementations take the same input, add in the same order, and leave the same result to the
-- last bit.
module Lattice
  ( Weights,
    weights,
    signal,
    Implementation (..),
    implementations,
  )
where

import Capstan.Binding (fresh)
import Capstan.Task (mapChunks, range)
import Control.Monad (forM_, void, when)
import qualified Data.Array.Repa as R
import Data.Array.Repa.Repr.Unboxed (fromUnboxed, toUnboxed)
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Storable.Mutable as M
import qualified Data.Vector.Unboxed as U
import Foreign.C.Types (CSize (..))
import Foreign.Marshal.Alloc (allocaBytes)
import Foreign.Marshal.Array (copyArray)
import Foreign.Ptr (Ptr)

-- | Cosine and sine of each layer's angle.
type Weights = V.Vector Double

-- | Six layers: a filter of twelve coefficients.
weights :: Weights
weights = V.fromList (concat [[cos a, sin a] | a <- [1.1, 0.6, 2.2, -0.4, 1.7, 0.9]])

signal :: Int -> V.Vector Double
signal n = V.generate n (\i -> sin (0.01 * fromIntegral i) + 0.1 * fromIntegral (i * i `mod` 17))

-- | An implementation: one lattice, and the whole transform.
data Implementation = Implementation
  { name :: String,
    single :: V.Vector Double -> IO (V.Vector Double),
    whole :: V.Vector Double -> IO (V.Vector Double)
  }

implementations :: [Implementation]
implementations =
  [ Implementation "C" (inC c_lattice) (inCWith c_wavelet),
    Implementation "C + OpenMP" (inC c_lattice_parallel) (inCWith c_wavelet_parallel),
    Implementation "vector" (pure . vectorLattice) (pure . vectorWavelet),
    Implementation "repa" repaLattice repaWavelet,
    Implementation "Capstan.Task" taskLattice taskWavelet
  ]

-- * C

type CLattice = Ptr Double -> CSize -> Ptr Double -> CSize -> IO ()

type CWavelet = Ptr Double -> Ptr Double -> CSize -> Ptr Double -> CSize -> IO ()

foreign import ccall safe "lattice" c_lattice :: CLattice

foreign import ccall safe "lattice_parallel" c_lattice_parallel :: CLattice

foreign import ccall safe "wavelet" c_wavelet :: CWavelet

foreign import ccall safe "wavelet_parallel" c_wavelet_parallel :: CWavelet

-- | The caller owns the result; C works on it in place.
inC :: CLattice -> V.Vector Double -> IO (V.Vector Double)
inC function input = V.unsafeWith weights $ \ws -> V.unsafeWith input $ \from -> do
  result <- fresh n $ \to -> do
    copyArray to from n
    function to (fromIntegral n) ws (layersOf weights)
  pure (V.unsafeFromForeignPtr0 result n)
  where
    n = V.length input

inCWith :: CWavelet -> V.Vector Double -> IO (V.Vector Double)
inCWith function input = allocaBytes (8 * V.length input) $ \spare ->
  inC (`function` spare) input

layersOf :: Weights -> CSize
layersOf ws = fromIntegral (V.length ws `div` 2)

layerList :: [(Int, Double, Double)]
layerList = [(k `mod` 2, weights V.! (2 * k), weights V.! (2 * k + 1)) | k <- [0 .. V.length weights `div` 2 - 1]]

-- | Below this number of elements a layer ends before a second thread has begun; @lattice.c@ has
-- the same number.
worthATeam :: Int
worthATeam = 8192

-- * vector

vectorLattice :: V.Vector Double -> V.Vector Double
vectorLattice input = foldl layer input layerList
  where
    layer x (shift, !c, !s) = V.generate n element
      where
        n = V.length x
        element i
          | even (i - shift) = c * V.unsafeIndex x i + s * V.unsafeIndex x (if i + 1 < n then i + 1 else 0)
          | otherwise = let j = if i > 0 then i - 1 else n - 1 in s * V.unsafeIndex x j - c * V.unsafeIndex x i

-- | The coarse signal and the detail.
halves :: V.Vector Double -> (V.Vector Double, V.Vector Double)
halves x = (V.generate half (\i -> V.unsafeIndex x (2 * i)), V.generate half (\i -> V.unsafeIndex x (2 * i + 1)))
  where
    half = V.length x `div` 2

vectorWavelet :: V.Vector Double -> V.Vector Double
vectorWavelet = V.concat . go []
  where
    go details x
      | V.length x < 4 = x : details
      | otherwise = let (coarse, detail) = halves (vectorLattice x) in go (detail : details) coarse

-- * repa

type Signal = R.Array R.U R.DIM1 Double

fromVector :: V.Vector Double -> Signal
fromVector v = fromUnboxed (R.ix1 (V.length v)) (V.convert v)

-- | Below this number of elements repa's threads cost more than they gain: each layer wakes them
-- through the kernel, and lets them sleep again.
worthAGang :: Int
worthAGang = 1048576

compute :: R.Array R.D R.DIM1 Double -> IO Signal
compute x
  | R.size (R.extent x) >= worthAGang = R.computeUnboxedP x
  | otherwise = pure $! R.computeUnboxedS x
{-# INLINE compute #-}

repaLayers :: Signal -> IO Signal
repaLayers input = foldl (\x l -> x >>= layer l) (pure input) layerList
  where
    layer :: (Int, Double, Double) -> Signal -> IO Signal
    layer (shift, !c, !s) x = compute (R.fromFunction (R.extent x) element)
      where
        n = R.size (R.extent x)
        at i = R.unsafeIndex x (R.ix1 i)
        element (R.Z R.:. i)
          | even (i - shift) = c * at i + s * at (if i + 1 < n then i + 1 else 0)
          | otherwise = s * at (if i > 0 then i - 1 else n - 1) - c * at i

repaLattice :: V.Vector Double -> IO (V.Vector Double)
repaLattice input = U.convert . toUnboxed <$> repaLayers (fromVector input)

repaWavelet :: V.Vector Double -> IO (V.Vector Double)
repaWavelet = fmap (V.concat . map (U.convert . toUnboxed)) . go [] . fromVector
  where
    go details x
      | n < 4 = pure (x : details)
      | otherwise = do
        y <- repaLayers x
        coarse <- every 0 y
        detail <- every 1 y
        go (detail : details) coarse
      where
        n = R.size (R.extent x)
        every :: Int -> Signal -> IO Signal
        every offset y = compute (R.fromFunction (R.ix1 (n `div` 2)) (\(R.Z R.:. i) -> R.unsafeIndex y (R.ix1 (2 * i + offset))))

-- * Capstan.Task

-- | Works in place, with chunks of pairs in parallel; a layer ends before the next layer begins.
taskLayers :: M.IOVector Double -> IO ()
taskLayers x = forM_ layerList $ \(shift, !c, !s) ->
  inChunks n (n `div` 2) $ \low high ->
    let go :: Int -> IO ()
        go pair
          | pair >= high = pure ()
          | otherwise = do
            let i = 2 * pair + shift
                j = if i + 1 < n then i + 1 else 0
            a <- M.unsafeRead x i
            b <- M.unsafeRead x j
            M.unsafeWrite x i (c * a + s * b)
            M.unsafeWrite x j (s * a - c * b)
            go (pair + 1)
     in go low
  where
    n = M.length x

taskLattice :: V.Vector Double -> IO (V.Vector Double)
taskLattice input = do
  x <- V.thaw input
  taskLayers x
  V.unsafeFreeze x

taskWavelet :: V.Vector Double -> IO (V.Vector Double)
taskWavelet input = do
  x <- V.thaw input
  spare <- M.new (M.length x)
  let go n
        | n < 4 = pure ()
        | otherwise = do
          let part = M.unsafeSlice 0 n x
          taskLayers part
          separate part (M.unsafeSlice 0 n spare)
          go (n `div` 2)
  go (M.length x)
  V.unsafeFreeze x

-- | Moves even elements to the front, and odd elements behind them.
separate :: M.IOVector Double -> M.IOVector Double -> IO ()
separate x spare = do
  inChunks n (n `div` 2) . each $ \i -> do
    M.unsafeRead x (2 * i) >>= M.unsafeWrite spare i
    M.unsafeRead x (2 * i + 1) >>= M.unsafeWrite spare (n `div` 2 + i)
  inChunks n n . each $ \i -> M.unsafeRead spare i >>= M.unsafeWrite x i
  where
    n = M.length x
    each :: (Int -> IO ()) -> Int -> Int -> IO ()
    each body low high = let go i = when (i < high) (body i >> go (i + 1)) in go low
    {-# INLINE each #-}

-- | Runs a layer of a number of elements in a number of steps; the function gets the first step,
-- and the step after the last.
inChunks :: Int -> Int -> (Int -> Int -> IO ()) -> IO ()
inChunks elements steps body
  | elements >= worthATeam = void (mapChunks (range 0 steps) body)
  | otherwise = body 0 steps
{-# INLINE inChunks #-}
