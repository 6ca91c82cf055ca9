{-# LANGUAGE ForeignFunctionInterface #-}

-- | Tasks that enter OpenMP regions, and blocking foreign calls.
module RegionTests (tests) where

import Capstan.Task
import Control.Monad
import Foreign.C.Types (CInt (..), CLong (..), CUInt (..))
import Test.Tasty
import Test.Tasty.HUnit

foreign import ccall safe "capstan_test_region"
  region :: CLong -> IO CLong

foreign import ccall safe "usleep"
  usleep :: CUInt -> IO CInt

tests :: TestTree
tests =
  testGroup
    "foreign calls"
    [ testCase "tasks enter OpenMP regions" $ do
        sums <- run $ \s -> do
          promises <- forM [1 .. 200] (async s . region)
          mapM await promises
        sums @?= [n * (n - 1) `div` 2 | n <- [1 .. 200]],
      testCase "a loop's bodies enter OpenMP regions" $ do
        total <- parallelForReduce (chunk 1 (range 0 200)) (+) 0 (region . fromIntegral)
        total @?= sum [n * (n - 1) `div` 2 | n <- [0 .. 199]],
      testCase "tasks block in foreign calls while others run" $ do
        x <- run $ \s -> do
          sleepers <- replicateM 8 (async s (usleep 20000))
          p <- async s (pure 'x')
          mapM_ await sleepers
          await p
        x @?= 'x'
    ]
