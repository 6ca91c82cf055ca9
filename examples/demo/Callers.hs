-- | Calls an OpenMP function 20 000 times, from threads of three kinds, and prints the time.
--
-- > callers bound|green|eight [CALLS]
--
-- It prints one line: the milliseconds, and the number of OS threads of the process afterwards. The
-- same source is linked with Capstan (the package) or with any libgomp.so.1 (@-lgomp@).
module Main (main) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar)
import Control.Monad (forM, forM_, replicateM_, unless)
import Data.List (isPrefixOf)
import GHC.Clock (getMonotonicTimeNSec)
import System.Environment (getArgs)
import System.Exit (die)

foreign import ccall safe "demo_region" demoRegion :: IO Double

main :: IO ()
main = do
  arguments <- getArgs
  let calls = case arguments of
        [_, count] -> read count
        _ -> 20000
  run <- case take 1 arguments of
    ["bound"] -> pure (callMany calls)
    ["green"] -> pure (green 1 calls)
    ["eight"] -> pure (green 8 calls)
    _ -> die "usage: callers bound|green|eight [CALLS]"
  callMany 100 -- the first regions start the threads
  began <- getMonotonicTimeNSec
  run
  ended <- getMonotonicTimeNSec
  threads <- threadsOfProcess
  putStrLn (show (fromIntegral ((ended - began) `div` 1000) / 1000 :: Double) ++ " " ++ threads)

-- | Makes the calls, shared among green threads that start at once.
green :: Int -> Int -> IO ()
green threads calls = do
  finished <- forM [1 .. threads] $ \_ -> do
    done <- newEmptyMVar
    _ <- forkIO (callMany (calls `div` threads) >> putMVar done ())
    pure done
  forM_ finished takeMVar

callMany :: Int -> IO ()
callMany calls = replicateM_ calls $ do
  total <- demoRegion
  unless (abs (total - expected) < 1e-9) $ die ("wrong sum: " ++ show total)

expected :: Double
expected = sum [sin (fromIntegral i * 0.001) | i <- [0 .. 999 :: Int]]

threadsOfProcess :: IO String
threadsOfProcess = do
  status <- readFile "/proc/self/status"
  pure (concat [drop 9 line | line <- lines status, "Threads:\t" `isPrefixOf` line])
