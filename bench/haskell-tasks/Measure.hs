-- | What all cases share.
module Measure
  ( Measured (..),
    measure,
    report,
    speedUp,
    milliseconds,
    evaluateOf,
    checkFibonacci,
    fibonacci,
  )
where

import Bench
import Control.Exception (evaluate)
import Control.Monad (replicateM, when)
import System.Mem (performMajorGC)

-- | A case: its name, and an action whose time is measured, made anew for each sample.
data Measured = Measured String (IO (IO ()))

-- | Samples of several cases in turn, A B C A B C, so that what disturbs one disturbs all; and their
-- medians, in nanoseconds. Garbage of the one before is not the next one's burden; where there are
-- several samples, neither are the pages of memory that only the first one has to ask for.
measure :: Arguments -> [Measured] -> IO [Double]
measure a cases = do
  when (argSamples a > 1) (mapM_ sample cases)
  rounds <- replicateM (argSamples a) (mapM sample cases)
  pure (map median (columns rounds))
  where
    sample (Measured _ make) = do
      action <- make
      performMajorGC
      timed action
    columns rounds = [map (!! i) rounds | i <- [0 .. length cases - 1]]

-- | The wanted ones of some cases, in that unit; a nanosecond has so many of them.
report :: Arguments -> String -> Double -> [Measured] -> IO ()
report a unit scale cases = do
  times <- measure a chosen
  sequence_ [emit name unit (time * scale) | (Measured name _, time) <- zip chosen times]
  where
    chosen = [c | c@(Measured name _) <- cases, wanted a name]

milliseconds :: Double
milliseconds = 1e-6

-- | A computation alone and by tasks: both times, and their ratio.
speedUp :: Arguments -> String -> IO (IO ()) -> IO (IO ()) -> IO ()
speedUp a name alone tasks = when (any (wanted a) [name, name ++ "-sequential", name ++ "-speedup"]) $ do
  times <- measure a [Measured (name ++ "-sequential") alone, Measured name tasks]
  case times of
    [before, after] -> do
      emit (name ++ "-sequential") "ms" (before * milliseconds)
      emit name "ms" (after * milliseconds)
      emit (name ++ "-speedup") "x" (before / after)
    _ -> pure ()

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
