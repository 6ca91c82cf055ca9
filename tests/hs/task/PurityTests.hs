{-# LANGUAGE FlexibleContexts #-}

-- | Results do not depend on the schedule: not on the number of Capabilities, and not to the last bit.
module PurityTests (tests) where

import Capstan.Task
import Control.Monad
import Control.Monad.ST (runST)
import Data.IORef
import Data.List (nub)
import qualified Data.Map.Strict as Map
import qualified Data.Vector as B
import qualified Data.Vector.Generic as V
import qualified Data.Vector.Storable as S
import qualified Data.Vector.Unboxed as U
import GHC.Float (castDoubleToWord64)
import System.IO.Unsafe (unsafePerformIO)
import Test.Tasty
import Test.Tasty.HUnit

-- | The first value of each result, on the least number of Capabilities.
earlier :: IORef (Map.Map String String)
earlier = unsafePerformIO (newIORef Map.empty)
{-# NOINLINE earlier #-}

-- | Checks that a result is the same each time, and as on fewer Capabilities. The parameter of the
-- function is always 0; it forces a new computation.
same :: String -> (Int -> IO [Double]) -> TestTree
same name compute = testCase name $ do
  zero <- newIORef 0
  results <- replicateM 12 (readIORef zero >>= compute >>= \xs -> pure $! show (map castDoubleToWord64 xs))
  length (nub results) @?= 1
  before <- atomicModifyIORef' earlier (\known -> (Map.insertWith (\_ old -> old) name (head results) known, Map.lookup name known))
  forM_ before (@?= head results)

-- | Numbers whose sums are rounded.
number :: Int -> Double
number i = 1 / fromIntegral (i * i + 3)

numbers :: V.Vector v Double => Int -> Int -> v Double
numbers count zero = V.generate count (\i -> number (i + zero))

-- | Some elements, and a sum of all elements.
digest :: V.Vector v Double => v Double -> [Double]
digest v = V.last v : V.foldl' (+) 0 v : [v V.! i | i <- [0, V.length v `div` 3, V.length v `div` 2]]

tests :: TestTree
tests =
  testGroup
    "purity"
    [ same "a reduction" (\z -> pure <$> parallelForReduce (range 0 1000000) (+) 0 (pure . number . (+ z))),
      same "a reduction with chunks" (\z -> pure <$> parallelForReduce (chunk 7 (range 3 100000)) (+) 0 (pure . number . (+ z))),
      same "a short reduction" (\z -> pure <$> parallelForReduce (chunk 1 (range 0 77)) (+) 0 (\i -> pure $! sum (map number [z .. i * 100]))),
      same "a reduction in ST" (\z -> pure [runST (unsafeParallelForReduce (range 0 1000000) (+) 0 (pure . number . (+ z)))]),
      same "sums of chunks" (mapChunks (range 0 1000003) . total),
      same "sums of chunks, in ST" (\z -> pure (runST (unsafeMapChunks (range 0 1000003) (total z)))),
      same "the first of many" (\z -> maybe [] pure <$> parallelFind (range 0 1000000) (\i -> pure (if i `rem` 1000 > 990 then Just (number (i + z)) else Nothing))),
      same "prefix sums, unboxed" (\z -> pure (digest (prefixSum (numbers 1000000 z :: U.Vector Double)))),
      same "prefix sums, storable" (\z -> pure (digest (prefixSum (numbers 1000000 z :: S.Vector Double)))),
      same "prefix sums, past the caches" (\z -> pure (digest (prefixSum (numbers 3000000 z :: S.Vector Double)))),
      same "prefix sums of Floats" (\z -> pure (digest (V.map realToFrac (prefixSum (V.map realToFrac (numbers 300000 z :: S.Vector Double) :: S.Vector Float)) :: S.Vector Double))),
      same "a scan, unboxed" (\z -> pure (digest (parallelScan (+) (numbers 300000 z :: U.Vector Double)))),
      same "a scan, boxed" (\z -> pure (digest (parallelScan (+) (numbers 30000 z :: B.Vector Double)))),
      testCase "sums by C and by Haskell have the same bits" . forM_ [0, 1, 1023, 4095, 4096, 4097, 70000, 300001] $ \n -> do
        let byC = prefixSum (numbers n 0 :: U.Vector Double)
            byHaskell = parallelScan (+) (numbers n 0 :: U.Vector Double)
        U.map castDoubleToWord64 byC @?= U.map castDoubleToWord64 byHaskell
        U.map castDoubleToWord64 (U.drop 1 (prefixSum (U.cons 0 (numbers n 0)))) @?= U.map castDoubleToWord64 (U.drop 1 (parallelScan (+) (U.cons 0 (numbers n 0)))),
      testCase "chunks of a range begin where they did before" $ do
        bounds <- replicateM 12 (mapChunks (range 5 100005) (curry pure))
        length (nub bounds) @?= 1
        concatMap (\(a, b) -> [a .. b - 1]) (head bounds) @?= [5 .. 100004]
    ]
  where
    total :: Applicative f => Int -> Int -> Int -> f Double
    total z from to = pure $! sum (map (number . (+ z)) [from .. to - 1])
