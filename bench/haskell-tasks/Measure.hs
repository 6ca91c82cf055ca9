-- | What all cases share.
module Measure
  ( Measured (..),
    measure,
    report,
    speedUp,
    speedUps,
    milliseconds,
    evaluateOf,
    checkFibonacci,
    fibonacci,
  )
where

import Bench
import Control.Exception (evaluate)
import Control.Monad (forM_, replicateM, when)
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
speedUp a name alone tasks = speedUps a (Measured (name ++ "-sequential") alone) [Measured name tasks]

-- | A computation alone and by tasks in several ways.
speedUps :: Arguments -> Measured -> [Measured] -> IO ()
speedUps a alone@(Measured sequential _) ways = when (any (wanted a) (sequential : names ++ map (++ "-speedup") names)) $ do
  times <- map (* milliseconds) <$> measure a (alone : ways)
  forM_ (take 1 times) $ \before -> do
    emit sequential "ms" before
    forM_ (zip names (drop 1 times)) $ \(name, after) -> emit name "ms" after >> emit (name ++ "-speedup") "x" (before / after)
  where
    names = [name | Measured name _ <- ways]

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
