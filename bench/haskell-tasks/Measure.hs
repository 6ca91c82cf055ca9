-- | Shared by all cases.
module Measure
  ( Measured (..),
    measure,
    report,
    speedUp,
    speedUps,
    copies,
    inMilliseconds,
    evaluateOf,
    checkFibonacci,
    fibonacci,
  )
where

import Bench
import Control.Concurrent (forkOn, newEmptyMVar, putMVar, readMVar, takeMVar)
import Control.Exception (SomeException, evaluate, throwIO, try)
import Control.Monad (forM, forM_, join, replicateM, when, (>=>))
import System.Mem (performMajorGC)

-- | A case: its name, and an action whose time is measured, made anew for each sample.
data Measured = Measured String (IO (IO ()))

-- | The medians of several cases. Their samples run in turn, A B C C B A, so that a disturbance
-- affects all cases. Each sample is made anew, and returns its time in nanoseconds. It does not pay
-- for the garbage of the sample before. With several samples, the median does not contain the first
-- sample's requests for memory pages either.
measure :: Arguments -> [IO (IO Double)] -> IO [Double]
measure a cases = do
  when (argSamples a > 1) (mapM_ sample cases)
  rounds <- forM [1 .. argSamples a] $ \k ->
    if even k then reverse <$> mapM sample (reverse cases) else mapM sample cases
  pure (map median (columns rounds))
  where
    sample make = do
      action <- make
      performMajorGC
      action
    columns rounds = [map (!! i) rounds | i <- [0 .. length cases - 1]]

-- | Prints the wanted cases in a unit; the number is the length of a nanosecond in that unit. Before
-- each sample the case runs once without a clock. GHC gives memory back after a case with a large
-- heap, and the case that came next would pay for it. A vector of a million elements took 0.46 ms
-- after some cases, and 0.57 after others.
report :: Arguments -> String -> Double -> [Measured] -> IO ()
report a unit scale cases = do
  times <- measure a [join make >> timed <$> make | Measured _ make <- chosen]
  sequence_ [emit name unit (time * scale) | (Measured name _, time) <- zip chosen times]
  where
    chosen = [c | c@(Measured name _) <- cases, wanted a name]

inMilliseconds :: Double
inMilliseconds = 1e-6

-- | A computation alone and by tasks: both times, and their ratio.
speedUp :: Arguments -> String -> IO (IO ()) -> IO (IO ()) -> IO ()
speedUp a name alone tasks = speedUps a name alone [Measured name tasks] []

-- | A computation alone, and by tasks in several ways. With several Capabilities the function also
-- measures the machine's limit: one independent computation on each Capability at once. If another
-- machine shares a core, or memory is busy, the gain is smaller than the number of Capabilities. If
-- there is a C program, the function measures its threads too; the program returns the nanoseconds
-- for a number of threads.
speedUps :: Arguments -> String -> IO (IO ()) -> [Measured] -> [Int -> IO Double] -> IO ()
speedUps a name alone ways byC = when (any (wanted a) shown) $ do
  times <- map (* inMilliseconds) <$> measure a ((timed <$> alone) : [timed <$> make | Measured _ make <- ways] ++ [run | (_, _, _, run) <- machine])
  forM_ (take 1 times) $ \before -> do
    emit (name ++ "-sequential") "ms" before
    forM_ (zip names (drop 1 times)) $ \(way, after) -> emit way "ms" after >> emit (way ++ "-speedup") "x" (before / after)
    forM_ (zip machine (drop (1 + length ways) times)) $ \((way, gain, done, _), after) ->
      emit (name ++ way) "ms" after >> emit (name ++ gain) "x" (done * before / after)
  where
    threads = fromIntegral (argThreads a) :: Int
    -- The number in each tuple is the number of computations that it does.
    machine
      | threads > 1 = ("-copies", "-gain", fromIntegral threads, copies threads alone) : [("-c", "-c-gain", 1, pure (run threads)) | run <- byC]
      | otherwise = []
    names = [way | Measured way _ <- ways]
    shown = (name ++ "-sequential") : names ++ map (++ "-speedup") names ++ concat [[name ++ way, name ++ gain] | (way, gain, _, _) <- machine]

-- | Copies start together, each on its own Capability; the result is the harmonic mean of their
-- times. The time of the last copy would be too long. On processors of 65 and 100 ms two copies end
-- after 100 ms, as if the machine gained 1.3. A program that divides the work by demand gains 65 /
-- 65 + 65 / 100 = 1.65.
copies :: Int -> IO (IO ()) -> IO (IO Double)
copies n make = do
  actions <- replicateM n make
  pure $ do
    start <- newEmptyMVar
    ends <- forM (zip [0 ..] actions) $ \(capability, action) -> do
      end <- newEmptyMVar
      end <$ forkOn capability (readMVar start >> try (timed action) >>= putMVar end)
    putMVar start ()
    times <- forM ends (takeMVar >=> either (throwIO :: SomeException -> IO Double) pure)
    pure (fromIntegral n / sum (map recip times))

-- | The function is not inlined: an application to a constant would be a constant, computed once
-- for all samples.
evaluateOf :: (Int -> Int) -> Int -> IO Int
evaluateOf f n = evaluate (f n)
{-# NOINLINE evaluateOf #-}

checkFibonacci :: Int -> Int -> IO ()
checkFibonacci n result = when (result /= fibonacci n) (error ("fib " ++ show n ++ " is not " ++ show result))

fibonacci :: Int -> Int
fibonacci n = go n 0 1
  where
    go :: Int -> Int -> Int -> Int
    go 0 x _ = x
    go k x y = go (k - 1) y (x + y)
