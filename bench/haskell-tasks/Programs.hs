-- | The examples at full size: alone, by tasks, and by the arrays of repa and the sparks of
-- parallel, if these have the same computation.
module Programs (programs, bound, long, pauses) where

import Bench
import Control.Concurrent (threadDelay)
import Control.Exception (evaluate)
import Control.Monad (forM_, replicateM_, void, when)
import qualified Data.Array.Repa as Repa
import Data.Word (Word64)
import Example
import Examples (examples)
import Fib
import Measure
import System.Mem (performMajorGC)

foreign import ccall unsafe "bench_pauses_forget" forgetPauses :: IO ()

foreign import ccall unsafe "bench_nonmoving" nonMovingCollector :: IO Int

foreign import ccall unsafe "bench_pauses" countPauses :: IO Word64

foreign import ccall "bench_bands" bandsOfC :: Int -> Int -> Int -> Int -> Int -> IO Double

foreign import ccall unsafe "bench_pause" pause :: Int -> IO Word64

-- | All examples but the trees of tasks, which "Costs" measures.
measured :: [Example]
measured = [e | e <- examples, name e `notElem` ["fib-pure", "fib-io"]]

programs :: Arguments -> IO ()
programs a = do
  mapM_ (alike a "") measured
  report a "ms" inMilliseconds [Measured "matrix-multiplication-repa" (multiply <$> square 1 <*> square 2)]
  where
    square seed = evaluate (Repa.fromListUnboxed (Repa.ix2 512 512) (map (\x -> fromIntegral (x + seed)) [1 .. 512 * 512 :: Int]))

-- | Measures both versions of an example.
alike :: Arguments -> String -> Example -> IO ()
alike a prefix (Example title _ sizes _ make alone tasks) =
  speedUps a this (void . alone <$> make sizes) [Measured this (void . tasks <$> make sizes)] byC
  where
    this = prefix ++ title
    byC = [bands columns fours height | title == "summed-area-table", [columns, fours, height] <- [sizes]]

-- | The nanoseconds of the summed-area table by a number of threads of C, with the tiles of the
-- example.
bands :: Int -> Int -> Int -> Int -> IO Double
bands columns fours height threads = do
  time <- bandsOfC columns fours height 4 threads
  if time < 0 then fail "the summed-area table of C is wrong" else pure time

-- | The examples that are loops, called by the program's main thread, which is bound.
bound :: Arguments -> IO ()
bound a = mapM_ (alike a "bound-") [e | e <- examples, name e `elem` ["life", "nbody-friendly", "spectral-norm", "matrix-multiplication", "mandelbrot"]]

-- | A product in the style of repa's own examples: the rows of one matrix by the columns of the
-- other.
multiply :: Repa.Array Repa.U Repa.DIM2 Double -> Repa.Array Repa.U Repa.DIM2 Double -> IO ()
multiply x y = do
  transposed <- Repa.computeUnboxedP (Repa.transpose y)
  product' <- Repa.sumP (Repa.traverse2 x transposed shape (\f g (Repa.Z Repa.:. i Repa.:. j Repa.:. k) -> f (Repa.ix2 i k) * g (Repa.ix2 j k)))
  void (evaluate (product' `Repa.unsafeIndex` Repa.ix2 0 0))
  where
    shape (Repa.Z Repa.:. n Repa.:. k) (Repa.Z Repa.:. m Repa.:. _) = Repa.Z Repa.:. n Repa.:. m Repa.:. k

-- | Computations of half a minute, alone and by tasks.
long :: Arguments -> IO ()
long a = speedUp a "fib-48-cutoff-40" (pure (evaluateOf fib 48 >>= checkFibonacci 48)) (pure (evaluateOf (fibTasks 40) 48 >>= checkFibonacci 48))

-- | The collector's pauses in microseconds while an example runs by tasks. For comparison also the
-- pauses while sequential programs run at once, one for each thread.
pauses :: Arguments -> IO ()
pauses a = do
  nonMoving <- (/= 0) <$> nonMovingCollector
  let kind = if nonMoving then "gc-nonmoving-" else "gc-copying-"
  forM_ examples $ \(Example title _ sizes _ make alone tasks) -> do
    let input = make (if title == "fib-pure" || title == "fib-io" then [32, 2] else sizes)
    pausesOf a (kind ++ title) (void . tasks <$> input)
    pausesOf a (kind ++ title ++ "-copies") (void <$> copies (fromIntegral (argThreads a)) (void . alone <$> input))

pausesOf :: Arguments -> String -> IO (IO ()) -> IO ()
pausesOf a title make = when (any (wanted a . (title ++)) ["", "-count", "-p99", "-max"]) $ do
  action <- make
  -- The garbage of the preparation is freed before: the non-moving collector marks it beside the
  -- program, and a later collection frees it.
  replicateM_ 3 (performMajorGC >> threadDelay 20000)
  forgetPauses
  action
  n <- countPauses
  p99 <- pause 990
  worst <- pause 1000
  emit (title ++ "-count") "pauses" (fromIntegral n)
  emit (title ++ "-p99") "us" (fromIntegral p99 / 1000)
  emit (title ++ "-max") "us" (fromIntegral worst / 1000)
