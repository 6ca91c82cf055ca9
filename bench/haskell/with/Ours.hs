-- | The cases that need the package.
module Ours (ourCases, copyCases, paperCalls) where

import Bench
import Calls
import qualified Capstan.Array as Array
import Capstan.Batch (Batch)
import qualified Capstan.Batch as Batch
import Capstan.Prim (Place (..), capabilityNumber, place, threadNumber)
import Control.Monad (forM, forM_, replicateM_, when)
import Foreign.C.Types (CDouble (..), CLong (..), CSize (..))
import Foreign.Ptr (FunPtr, Ptr)

foreign import ccall "&calls_next" nextFunction :: FunPtr (CLong -> IO CLong)

foreign import ccall unsafe "calls_copy" c_copy :: Ptr Double -> Ptr Double -> CSize -> IO ()

foreign import ccall unsafe "calls_copies" c_copies :: Ptr Double -> Ptr Double -> CSize -> CLong -> IO CDouble

foreign import ccall unsafe "calls_faults" faults :: IO CLong

-- | Batches of prepared calls, a batch that is prepared anew each time, and queries to the runtime,
-- without the time of the empty loop.
ourCases :: IO [Case]
ourCases = do
  (unsafely, safely) <- batches
  built <- Batch.new 100
  pure $
    [ ("primitive", beside capabilityNumber),
      ("primitive-thread", beside threadNumber),
      ("primitive-place", beside (placeTeamSize <$> place)),
      ("batch-built-100", each 100 (Batch.clear built >> filled built 100 >> Batch.runUnsafe built))
    ]
      ++ unsafely
      ++ safely

batches :: IO ([Case], [Case])
batches = fmap unzip . forM [1, 2, 5, 10, 20, 50, 100] $ \size -> do
  batch <- Batch.new size
  filled batch size
  pure
    ( ("batch-" ++ show size, each size (Batch.runUnsafe batch)),
      ("batch-safe-" ++ show size, each size (Batch.run batch))
    )

filled :: Batch -> Int -> IO ()
filled _ 0 = pure ()
filled batch k = Batch.add batch nextFunction (fromIntegral k) >> filled batch (k - 1)

beside :: IO Int -> Int -> IO Double
beside question = \n -> do
  empty <- turns (const nothing) n
  asked <- turns (const question) n
  pure (max 0 (asked - empty))
  where
    nothing = pure 1
{-# INLINE beside #-}

-- | Sections 9.7 and 9.8.
paperCalls :: IO [Case]
paperCalls = do
  (_, safely) <- batches
  pure $
    ("call-prim", beside (placeCapability <$> place)) :
    ("call-inline", beside capabilityNumber) :
    safely

-- | Copies of 16 384 doubles from one shared array to another: by a call for each copy, and by C
-- alone.
copyCases :: Arguments -> IO ()
copyCases a = do
  from <- Array.generate Array.CacheLine count fromIntegral
  to <- Array.new Array.CacheLine count
  let copies n = Array.withPointer from $ \f -> Array.withPointer to $ \t ->
        timed (replicateM_ n (c_copy t f (fromIntegral count)))
      alone n = Array.withPointer from $ \f -> Array.withPointer to $ \t ->
        realToFrac <$> c_copies t f (fromIntegral count) (fromIntegral n)
  measure median "ns" 1 a [("copy-16384", copies), ("copy-16384-c", alone)]
  when (wanted a "copy-16384-faults") $ do
    forM_ [1, 2 :: Int] . const $ copies 1
    before <- faults
    _ <- copies 1000
    after <- faults
    emit "copy-16384-faults" "faults" (fromIntegral (after - before) / 1000)
  where
    count = 16384
