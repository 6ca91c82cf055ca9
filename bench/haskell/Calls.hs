-- | The cost of a call. A case is a name, and an action that takes a number of turns and returns
-- their time in nanoseconds.
module Calls (Case, callCases, measure, turns, each, best) where

import Bench
import Control.Monad (forM, forM_, replicateM)
import Foreign.C.Types (CLong (..))

foreign import ccall unsafe "calls_next" unsafeNext :: CLong -> IO CLong

foreign import ccall safe "calls_next" safeNext :: CLong -> IO CLong

type Case = (String, Int -> IO Double)

callCases :: [Case]
callCases =
  [ ("unsafe-call", turns (fmap fromIntegral . unsafeNext . fromIntegral)),
    ("safe-call-short", turns (fmap fromIntegral . safeNext . fromIntegral))
  ]

-- | Measures the cases in turn, again and again, so that a disturbance of the machine affects all
-- alike. The unit of the figures has the given number of nanoseconds.
measure :: ([Double] -> Double) -> String -> Double -> Arguments -> [Case] -> IO ()
measure summary unit nanoseconds a cases = do
  counts <- forM chosen $ \(_, act) -> growUntil (argSampleTime a) act
  rounds <- replicateM (argSamples a) . forM (zip chosen counts) $ \((_, act), n) ->
    (/ fromIntegral n) <$> act n
  forM_ (zip chosen [0 ..]) $ \((name, _), i) ->
    emit name unit (summary (map (!! i) rounds) / nanoseconds)
  where
    chosen = filter (wanted a . fst) cases

-- | The best of several runs, as in the published tables.
best :: [Double] -> Double
best = minimum

-- | A loop that uses all its results. It is compiled for each action: it takes its count by a
-- lambda, so that it is inlined before the count is known.
turns :: (Int -> IO Int) -> Int -> IO Double
turns action = \n -> timed (go n 0)
  where
    go :: Int -> Int -> IO Int
    go 0 total = pure total
    go k total = do
      x <- action k
      let total' = total + x
      total' `seq` go (k - 1) total'
{-# INLINE turns #-}

-- | An action that counts as a given number of calls.
each :: Int -> IO () -> Int -> IO Double
each size action = \n -> (/ fromIntegral size) <$> timed (go n)
  where
    go :: Int -> IO ()
    go 0 = pure ()
    go k = action >> go (k - 1)
{-# INLINE each #-}
