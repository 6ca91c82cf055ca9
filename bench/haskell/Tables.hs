-- | The Haskell sections of ghc-openmp's published tables: 9.3 (regions from Haskell), 9.4 (when a
-- region pays), 9.5 (GHC's own parallelism beside it), 9.7 (calling conventions) and 9.8 (batches).
module Tables (tables) where

import Bench
import Calls
import Control.Concurrent
import Control.Monad (forM, when)
import Foreign.C.Types (CDouble (..), CInt (..), CLong (..))
import qualified Llvm
import qualified Native
import Ours (paperCalls)

foreign import ccall unsafe "calls_sines" sinesHere :: CLong -> IO CDouble

foreign import ccall safe "calls_sines" sinesAway :: CLong -> IO CDouble

foreign import ccall safe "calls_sines_parallel" sinesParallel :: CLong -> CInt -> IO CDouble

tables :: Arguments -> IO ()
tables a = do
  setNumCapabilities (fromIntegral threads)
  measure best "ms" 1e6 a [("ffi-sines", repeated (sinesParallel 2000000 threads))]
  when (threads == 4) $ do
    measure best "us" 1e3 a (concatMap crossover [100, 200, 500, 1000, 5000, 100000])
    measure best "us" 1e3 a (concatMap loops [10000, 100000, 1000000, 10000000])
    ours <- paperCalls
    measure best "ns" 1 a (zip ["call-unsafe", "call-safe"] (map snd callCases) ++ ours)
  where
    threads = argThreads a
    crossover n =
      [ ("crossover-c-" ++ show n, repeated (sinesHere n)),
        ("crossover-openmp-" ++ show n, repeated (sinesParallel n threads))
      ]
    loops n =
      [ ("loop-c-" ++ show n, repeated (sinesAway (fromIntegral n))),
        ("loop-openmp-" ++ show n, repeated (sinesParallel (fromIntegral n) threads))
      ]
        ++ concat
          [ [ (prefix ++ "haskell-" ++ show n, repeated (sines 0 n)),
              (prefix ++ "parallel-" ++ show n, repeated (parallel sines (fromIntegral threads) n))
            ]
            | (prefix, sines) <- ("loop-", Native.sines) : [("loop-llvm-", sines) | Just sines <- [Llvm.sines]]
          ]

-- | The loop compares the action's result with NaN, so that it is computed.
repeated :: RealFloat b => IO b -> Int -> IO Double
repeated action n = timed (go n)
  where
    go :: Int -> IO ()
    go 0 = pure ()
    go k = do
      value <- action
      when (isNaN value) (error "a sum of sines is not a number")
      go (k - 1)

-- | A green thread for each Capability, with an equal share.
parallel :: (Int -> Int -> IO Double) -> Int -> Int -> IO Double
parallel sines threads n = do
  ends <- forM [0 .. threads - 1] $ \i -> do
    end <- newEmptyMVar
    _ <- forkOn i (sines (n * i `div` threads) (n * (i + 1) `div` threads) >>= putMVar end)
    pure end
  sum <$> mapM takeMVar ends
