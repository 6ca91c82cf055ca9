-- | What a call costs. A case is a name, and what takes so many turns and says how long they took, in
-- nanoseconds.
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

-- | Case after case, again and again, so that what disturbs the machine disturbs them alike. The
-- figures are in units of so many nanoseconds.
measure :: ([Double] -> Double) -> String -> Double -> Arguments -> [Case] -> IO ()
measure summary unit nanoseconds a cases = do
  counts <- forM chosen $ \(_, act) -> growUntil (argSampleTime a) act
  rounds <- replicateM (argSamples a) . forM (zip chosen counts) $ \((_, act), n) ->
    (/ fromIntegral n) <$> act n
  forM_ (zip chosen [0 ..]) $ \((name, _), i) ->
    emit name unit (summary (map (!! i) rounds) / nanoseconds)
  where
    chosen = filter (wanted a . fst) cases

-- | Published tables have the best of several runs.
best :: [Double] -> Double
best = minimum

-- | A loop whose results are all used. Compiled for each action: it takes its count by a lambda, so
-- that it is inlined where the count is not known yet.
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

-- | An action that stands for so many calls.
each :: Int -> IO () -> Int -> IO Double
each size action = \n -> (/ fromIntegral size) <$> timed (go n)
  where
    go :: Int -> IO ()
    go 0 = pure ()
    go k = action >> go (k - 1)
{-# INLINE each #-}
