-- |
-- Module      : Capstan.Task.Pool.Attend
-- Description : Appoints scouts on the Capabilities that should have one
module Capstan.Task.Pool.Attend
  ( serveCapabilities,
    beginAnew,
    whoSearch,
    attend,
    belongs,
  )
where

import Capstan.Capability (capabilityNumber)
import Capstan.Task.Pool.Process
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Station
import Capstan.Task.Pool.Threads
import Capstan.Task.Pool.Workers
import Capstan.Task.Work.Deque
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import qualified Data.Vector as V
import GHC.IO (noDuplicate)

-- | Appoints scouts on the Capabilities that have none, up to the pool's limit. A scout that sleeps
-- because its Capability was busy looks again, because the thread that computed there may be the
-- caller, which GHC has moved.
serveCapabilities :: Pool -> IO ()
serveCapabilities pool = do
  beginAnew pool
  want <- poolSize pool
  forM_ [0 .. min want (V.length (stations pool)) - 1] $ \n -> do
    now <- scoutOf (deques pool) n
    looksAgain <- if now == Asleep || now == OnCall then (&&) . (/= n) <$> capabilityNumber <*> (not <$> isIdle (deques pool) n) else pure False
    -- These steps must be completed, as in 'spawnValue'.
    when (now == Absent || looksAgain) (noDuplicate >> void (if looksAgain then ring pool n else attend pool n))

-- | Ensures that the scout of a station is awake, if the station should have a scout. Returns
-- whether it should.
attend :: Pool -> Int -> IO Bool
attend pool n
  | n >= V.length (stations pool) = pure False
  | otherwise = do
    now <- scoutOf (deques pool) n
    case now of
      Asleep -> True <$ ring pool n
      Absent -> do
        wanted <- isServed pool n
        when wanted . uninterruptibleMask_ $ do
          won <- changeScout (deques pool) n Absent (awake pool)
          when won (appoint pool (stations pool V.! n))
        pure wanted
      _ -> pure True

-- | Whether a station should have a scout.
isServed :: Pool -> Int -> IO Bool
isServed pool n = do
  over <- readIORef (ended pool)
  size <- poolSize pool
  pure (not over && n < size)

-- | Whether the caller, a worker of the station, can serve it: the caller runs on the station's
-- Capability, and this is in use.
belongs :: Pool -> Station -> IO Bool
belongs pool station
  | poolLimit pool > 0 = pure True
  | otherwise = do
    here <- capabilityNumber
    have <- getNumCapabilities
    pure (here == number station && here < have)

-- | Begins anew in the child of a fork, without workers and tasks (P4).
beginAnew :: Pool -> IO ()
beginAnew pool = inProcess (process pool) $ do
  clearDeques (deques pool)
  clearFlags (flags pool)
  whoSearch pool
  atomicWriteIORef (spilled pool) []
  clearThreads (threads pool)
  forM_ (stations pool) $ \station -> do
    _ <- tryTakeMVar (bell station)
    _ <- tryTakeMVar (idles station)
    writeIORef (awaitsIdle station) False
    writeIORef (hasAlarm station) False
    clearWorkers (engaged station)

-- | Marks a small pool as always searched. Its stations are not on the Capabilities where its tasks
-- are pushed, so its deques must be public at all times.
whoSearch :: Pool -> IO ()
whoSearch pool = when (poolLimit pool > 0) (addSearching (flags pool) 1)
