-- |
-- Module      : Capstan.Task.Pool.Threads
-- Description : The number of threads that a pool has started, and a wait until all have ended
--
-- A thread that ends counts itself out, and rings if the number is 0 then. The thread that waits
-- reads the number first, and sleeps if it is not 0. So a thread that counts itself out later than
-- this read rings. The number may be 0 for a time although the pool has not ended; the thread that
-- waits therefore reads the number again after each ring.
module Capstan.Task.Pool.Threads
  ( Threads,
    newThreads,
    clearThreads,
    counted,
    awaitNone,
  )
where

import Capstan.Internal.Swap (changeEvaluated)
import Control.Concurrent.MVar
import Control.Exception (finally)
import Control.Monad (unless, void, when)
import Data.IORef

-- | The number of threads, and the bell.
data Threads = Threads !(IORef Int) !(MVar ())

-- | No threads.
newThreads :: IO Threads
newThreads = Threads <$> newIORef 0 <*> newEmptyMVar

-- | Forgets all threads.
clearThreads :: Threads -> IO ()
clearThreads (Threads number _) = atomicWriteIORef number 0

-- | Starts a thread by the given function, and counts it until its action has ended.
counted :: Threads -> (IO () -> IO ()) -> IO () -> IO ()
counted (Threads number bell) start action = do
  _ <- change number 1
  start (action `finally` out)
  where
    out = change number (-1) >>= \now -> when (now == 0) (void (tryPutMVar bell ()))

-- | Waits until all threads have ended. The caller can be interrupted.
awaitNone :: Threads -> IO ()
awaitNone threads@(Threads number bell) = do
  now <- change number 0
  unless (now == 0) (takeMVar bell >> awaitNone threads)

-- | Adds to the number, and returns the new number. Also the read is atomic, so that it comes after
-- what the caller has written.
change :: IORef Int -> Int -> IO Int
change number n = changeEvaluated number (\before -> let now = before + n in (now, now))
