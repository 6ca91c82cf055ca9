{-# LANGUAGE CPP #-}
{-# LANGUAGE ForeignFunctionInterface #-}

-- | The cost of a callback from a region: @callback@. Figures are nanoseconds for each call, by one
-- thread of a team whose other threads wait, or by two threads at once. A loop of C by one thread
-- and by two shows whether the machine has two processors at that time. Two processors of a virtual
-- machine may be halves of one core.
--
-- The program is built twice, like the host programs: with the capstan package (@-DCAPSTAN@) and
-- without. Without the package it can measure only GHC's own function pointers.
module Main (main) where

import Bench
#ifdef CAPSTAN
import Capstan.Callback
#endif
import Control.Monad (forM, forM_, replicateM, void, when)
import Foreign.C.Types (CInt (..), CLong (..))
import Foreign.Ptr (FunPtr)
import GHC.Conc (getNumProcessors, setNumCapabilities)
import System.Environment (getArgs)

foreign import ccall safe "callback_region"
  region :: FunPtr (Double -> IO Double) -> CInt -> CInt -> CLong -> IO Double

foreign import ccall safe "callback_loop" loopRegion :: CInt -> CInt -> CLong -> IO CLong

foreign import ccall safe "callback_plain" safeCall :: Double -> IO Double

foreign import ccall "wrapper" wrap :: (Double -> IO Double) -> IO (FunPtr (Double -> IO Double))

-- | A case: its name, and an action that makes a given number of calls.
data Case = Case String (Int -> IO ())

main :: IO ()
main = do
  getNumProcessors >>= setNumCapabilities . max 2
  a <- getArgs >>= parseArguments
  pointer <- wrap increment
  let threads = max 2 (argThreads a)
      within callers f n = region f threads callers (fromIntegral n) >>= check callers n
      alone callers n = void (loopRegion threads callers (fromIntegral n))
      cases =
        filter (\(Case name _) -> wanted a name) $
          [ Case "plain-loop" (alone 1),
            Case "plain-loop-two" (alone 2),
            Case "safe-call" chain,
            Case "callback-wrapper" (within 1 pointer),
            Case "callback-wrapper-two" (within 2 pointer)
          ]
            ++ ours within
  counts <- forM cases $ \(Case _ act) -> max leastCalls <$> growUntil (argSampleTime a) (timed . act)
  -- The cases run in turn, again and again, so that a disturbance of the machine affects all alike.
  rounds <- replicateM (argSamples a) . forM (zip cases counts) $ \(Case _ act, n) ->
    (/ fromIntegral n) <$> timed (act n)
  forM_ (zip cases [0 ..]) $ \(Case name _, i) ->
    emit name "ns" (median (map (!! i) rounds))

-- | With the capstan package: its own function pointers, by one thread and by two.
ours :: (CInt -> FunPtr (Double -> IO Double) -> Int -> IO ()) -> [Case]
#ifdef CAPSTAN
ours within =
  [ Case (name ++ suffix) (\n -> withCallback mode increment $ \f -> within callers f n)
    | (name, mode) <- [("callback-released", Released), ("callback-kept", Kept)],
      (suffix, callers) <- [("", 1), ("-two", 2)]
  ]
#else
ours _ = []
#endif

-- | The least number of calls: with it the region itself, and a disturbance while the count was
-- chosen, do not matter.
leastCalls :: Int
leastCalls = 2000

increment :: Double -> IO Double
increment x = pure $! x + 1

-- | A number of safe calls, each with the result of the call before.
chain :: Int -> IO ()
chain n = go n 0 >>= \r -> when (r /= fromIntegral n) (error ("the calls added up to " ++ show r))
  where
    go :: Int -> Double -> IO Double
    go 0 x = pure x
    go k x = safeCall x >>= go (k - 1)

check :: CInt -> Int -> Double -> IO ()
check callers n got = when (got /= wantedSum) (error ("a region computed " ++ show got ++ ", not " ++ show wantedSum))
  where
    wantedSum = fromIntegral callers * m * (m + 1) / 2
    m = fromIntegral n
