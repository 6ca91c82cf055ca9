-- |
-- Module      : Capstan.CLI.Bench.Progress
-- Description : One line on a terminal that says what is being measured; silent elsewhere.
module Capstan.CLI.Bench.Progress
  ( Progress,
    start,
    report,
    finish,
  )
where

import Control.Monad (when)
import Data.IORef (IORef, modifyIORef', newIORef, readIORef)
import GHC.Clock (getMonotonicTime)
import System.IO (hFlush, hIsTerminalDevice, hPutStr, stderr)
import Text.Printf (printf)

data Progress = Progress
  { progressShown :: !Bool,
    progressTitle :: String,
    progressTotal :: !Int,
    progressDone :: IORef Int,
    progressBegan :: !Double
  }

start :: String -> Int -> IO Progress
start title total = Progress <$> hIsTerminalDevice stderr <*> pure title <*> pure total <*> newIORef 0 <*> getMonotonicTime

-- | To be called before each step.
report :: Progress -> String -> IO ()
report p step = do
  done <- readIORef (progressDone p)
  modifyIORef' (progressDone p) (+ 1)
  now <- getMonotonicTime
  when (progressShown p) $ do
    hPutStr stderr ("\r" ++ take 100 (line done (now - progressBegan p)) ++ "\ESC[K")
    hFlush stderr
  where
    line done passed = printf "%s [%d/%d] %s%s" (progressTitle p) (done + 1) (progressTotal p) step (left done passed)
    left :: Int -> Double -> String
    left done passed
      | done * 20 < progressTotal p = ""
      | otherwise = clock (passed / fromIntegral done * fromIntegral (progressTotal p - done))
    clock :: Double -> String
    clock seconds = printf ", %d:%02d left" (whole `div` 60) (whole `mod` 60)
      where
        whole = ceiling seconds :: Int

finish :: Progress -> IO ()
finish p = when (progressShown p) $ hPutStr stderr "\r\ESC[K" >> hFlush stderr
