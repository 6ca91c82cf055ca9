-- | What all cases share.
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
import Control.Monad (forM, forM_, replicateM, when, (>=>))
import System.Mem (performMajorGC)

-- | A case: its name, and an action whose time is measured, made anew for each sample.
data Measured = Measured String (IO (IO ()))

-- | Samples of several cases in turn, A B C A B C, so that what disturbs one disturbs all; and their
-- medians. Each is made anew, and says how many nanoseconds it took. Garbage of the one before is not the next one's burden; where there are
-- several samples, neither are the pages of memory that only the first one has to ask for.
measure :: Arguments -> [IO (IO Double)] -> IO [Double]
measure a cases = do
  when (argSamples a > 1) (mapM_ sample cases)
  rounds <- replicateM (argSamples a) (mapM sample cases)
  pure (map median (columns rounds))
  where
    sample make = do
      action <- make
      performMajorGC
      action
    columns rounds = [map (!! i) rounds | i <- [0 .. length cases - 1]]

-- | The wanted ones of some cases, in that unit; a nanosecond has so many of them.
report :: Arguments -> String -> Double -> [Measured] -> IO ()
report a unit scale cases = do
  times <- measure a [timed <$> make | Measured _ make <- chosen]
  sequence_ [emit name unit (time * scale) | (Measured name _, time) <- zip chosen times]
  where
    chosen = [c | c@(Measured name _) <- cases, wanted a name]

inMilliseconds :: Double
inMilliseconds = 1e-6

-- | A computation alone and by tasks: both times, and their ratio.
speedUp :: Arguments -> String -> IO (IO ()) -> IO (IO ()) -> IO ()
speedUp a name alone tasks = speedUps a name alone [Measured name tasks] []

-- | A computation alone and by tasks in several ways. Where there are several Capabilities, also what the machine
-- makes of them: as many computations at once that have nothing in common. A processor whose core another machine
-- uses too, or memory that is busy, gives them less than so many times one. And the same by threads of C, where there is a program which
-- says how many nanoseconds so many take.
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
    -- With how many computations each of them does.
    machine
      | threads > 1 = ("-copies", "-gain", fromIntegral threads, copies threads alone) : [("-c", "-c-gain", 1, pure (run threads)) | run <- byC]
      | otherwise = []
    names = [way | Measured way _ <- ways]
    shown = (name ++ "-sequential") : names ++ map (++ "-speedup") names ++ concat [[name ++ way, name ++ gain] | (way, gain, _, _) <- machine]

-- | Each on a Capability of its own, started together: the harmonic mean of what each took. Until the last has ended
-- would be too much: on processors of 65 and 100 ms two copies have ended after 100, as if the machine gained 1.3, but
-- who shares out the work by need gains 65 / 65 + 65 / 100 = 1.65.
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

-- | Not inlined: an application to a constant would be a constant, computed once for all samples.
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
