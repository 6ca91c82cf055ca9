-- |
-- Module      : Capstan.CLI.Bench.Progress
-- Description : One line on a terminal that says what is being measured; elsewhere a line every half minute.
module Capstan.CLI.Bench.Progress
  ( Progress,
    start,
    report,
    finish,
  )
where

import Control.Monad (unless, when)
import Data.IORef (IORef, modifyIORef', newIORef, readIORef, writeIORef)
import GHC.Clock (getMonotonicTime)
import System.IO (hFlush, hIsTerminalDevice, hPutStr, stderr)
import Text.Printf (printf)

data Progress = Progress
  { progressTerminal :: !Bool,
    progressTitle :: String,
    progressTotal :: !Int,
    progressDone :: IORef Int,
    progressBegan :: !Double,
    -- | The time of the last line, if the output is no terminal.
    progressTold :: IORef Double
  }

start :: String -> Int -> IO Progress
start title total = do
  terminal <- hIsTerminalDevice stderr
  began <- getMonotonicTime
  unless terminal (hPutStr stderr (title ++ ": " ++ show total ++ " processes\n"))
  Progress terminal title total <$> newIORef 0 <*> pure began <*> newIORef began

-- | To be called before each step.
report :: Progress -> String -> IO ()
report p step = do
  done <- readIORef (progressDone p)
  modifyIORef' (progressDone p) (+ 1)
  now <- getMonotonicTime
  told <- readIORef (progressTold p)
  let text = take 100 (line done (now - progressBegan p))
      write shown = hPutStr stderr shown >> hFlush stderr
  if progressTerminal p
    then write ("\r" ++ text ++ "\ESC[K")
    else when (now - told >= 30) (write (text ++ "\n") >> writeIORef (progressTold p) now)
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
finish p = when (progressTerminal p) $ hPutStr stderr "\r\ESC[K" >> hFlush stderr
