-- | The benchmarks that the program @ffi@ measures, each in separate processes.
module Cases
  ( benchmarks,
    cleanNames,
    cleanBenchmarks,
  )
where

import Capstan.Bench
import Capstan.Binding
import Control.Concurrent (forkOn, getNumCapabilities, newEmptyMVar, putMVar, takeMVar, threadDelay)
import Control.DeepSeq (NFData (..))
import Control.Exception (evaluate)
import Control.Monad (forM, forM_, replicateM)
import Copy (copyAdopted, copyInto, copyIntoMemory, copyNew, copyTimes)
import qualified Copy
import qualified Data.Map.Strict as Map
import qualified Data.Vector.Storable as V
import qualified Data.Vector.Unboxed as U
import GHC.Conc (getNumProcessors)
import qualified Lattice
import qualified Seeded
import System.Process (ProcessHandle, spawnProcess, terminateProcess, waitForProcess)

-- | The arena has room for one copy.
benchmarks :: Arena -> [Benchmark]
benchmarks arena =
  [ bgroup "2012" [bench ("copy " ++ show i) (whnf copyNew Copy.signal) | i <- [1 .. 9 :: Int]],
    bgroup "fixed" [bench ("copy " ++ show i) (whnfIO (copyInto arena Copy.signal)) | i <- [1 .. 9 :: Int]],
    bench "loop in C" (toBenchmarkable (copyTimes Copy.signal)),
    bgroup
      "binding"
      [ bench "arena" (whnfIO (copyInto arena Copy.signal)),
        bench "fresh" (whnfIO (copyIntoMemory fresh Copy.signal)),
        bench "managed" (whnfIO (copyIntoMemory managed Copy.signal)),
        bench "adopt" (whnfIO (copyAdopted Copy.signal)),
        bench "foreign-result" (whnfIO (Copy.copyForeign Copy.signal))
      ],
    bench "empty" (whnfIO (pure ())),
    bgroup "clean" (zipWith bench cleanNames cleanBenchmarks),
    bgroup "wavelet" (waveletGroup "lattice" Lattice.single ++ waveletGroup "transform" Lattice.whole),
    bgroup "seeded" (Seeded.benchmarks (reserve arena Seeded.blockBytes) ++ moreSeeded)
  ]
  where
    waveletGroup title run = [env (touchHeap >> pure (Lattice.signal 32768)) $ \input -> bgroup title [bench (Lattice.name i) (whnfIO (run i input)) | i <- Lattice.implementations]]

-- | Lets each Capability allocate up to the next garbage collection, so that no measured call is
-- the first to touch a page of GHC's heap. A page fault costs microseconds, and earlier work would
-- decide which calls have faults.
touchHeap :: IO ()
touchHeap = do
  capabilities <- getNumCapabilities
  done <- forM [1 .. capabilities] $ \i -> do
    one <- newEmptyMVar
    _ <- forkOn i (forM_ [1 .. 50] (\x -> evaluate (V.replicate 16384 (fromIntegral (x :: Int) :: Double))) >> putMVar one ())
    pure one
  mapM_ takeMVar done

cleanNames :: [String]
cleanNames = ["sum", "sort", "map", "dot", "fill", "fold", "string", "powers", "call", "copy"]

-- | Ten benchmarks without a distortion: arithmetic, lists, maps, vectors, and C.
cleanBenchmarks :: [Benchmarkable]
cleanBenchmarks =
  [ whnf (U.sum . U.enumFromTo 1) (20000 :: Int),
    nf (\n -> reverse [x * 7919 `mod` 1009 | x <- [1 .. n]]) (300 :: Int),
    whnf (\n -> Map.foldl' (+) 0 (Map.fromList [(x * 7919 `mod` 10007, x) | x <- [1 .. n]])) (500 :: Int),
    whnf (\v -> V.sum (V.zipWith (*) v v)) (V.generate 4000 fromIntegral :: V.Vector Double),
    whnf (\n -> U.last (U.generate n (\i -> i * i))) (4000 :: Int),
    whnf (foldr (\x acc -> x + acc * 3 `mod` 65537) 0) [1 .. 1000 :: Int],
    nf (unwords . map show) [1 .. 200 :: Int],
    whnf (\n -> product (replicate n 3) :: Integer) 200,
    whnf sin (1.5 :: Double),
    toBenchmarkable (copyTimes (V.take 2048 Copy.signal))
  ]

-- | Distortions that the tests of the library cannot check, because they show in times alone.
moreSeeded :: [Benchmark]
moreSeeded =
  [ envWithCleanup burners stop (const (bench "others compute" work)),
    bench "repeat 1" (whnf (U.sum . U.enumFromTo 1) (20000 :: Int)),
    bench "repeat 2" (whnf (U.sum . U.enumFromTo 1) (40000 :: Int))
  ]
  where
    work = whnf (U.sum . U.enumFromTo 1) (20000 :: Int)
    -- Two burners for each core.
    burners = do
      cores <- getNumProcessors
      processes <- replicateM (2 * cores) (spawnProcess "sh" ["-c", "while :; do :; done"])
      threadDelay 20000
      pure (Burners processes)
    stop (Burners processes) = mapM_ (\p -> terminateProcess p >> waitForProcess p) processes

newtype Burners = Burners [ProcessHandle]

instance NFData Burners where
  rnf (Burners processes) = length processes `seq` ()
