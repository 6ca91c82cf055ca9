-- |
-- Module      : Capstan.Task.Pool.Work
-- Description : The threads of a station: scouts that look for tasks, and workers that run them
--
-- "Capstan.Task.Pool" says how the two divide the work, and how politely they do it.
module Capstan.Task.Pool.Work
  ( startScout,
  )
where

import Capstan.Capability (capabilityNumber)
import Capstan.Task.Pool.Attend
import Capstan.Task.Pool.Find
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Station
import Capstan.Task.Pool.Threads
import Capstan.Task.Pool.Workers
import Capstan.Task.Thread.Stay (settle)
import Capstan.Task.Thread.Target (masked)
import Capstan.Task.Work.Deque
import Capstan.Task.Work.Group
import Capstan.Task.Work.Run (asWorker)
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import GHC.Clock (getMonotonicTimeNSec)

-- | Starts the station's new scout.
startScout :: Pool -> Station -> IO ()
startScout pool station =
  -- The thread must not inherit a masking state that keeps exceptions from its tasks.
  counted (threads pool) (void . forkOn (number station)) . masked . asWorker $ \place runs ->
    scout pool station >>= mapM_ (work pool station place runs)

-- | Runs a task, and further tasks that it finds. The thread has exceptions masked, except within
-- the tasks.
work :: Pool -> Station -> Place -> (Entry -> IO ()) -> Entry -> IO ()
work pool station place runs first = do
  worker <- engage (engaged station) place
  addEngaged (flags pool) 1
  startScout pool station
  serve worker first
  addEngaged (flags pool) (-1)
  retire (engaged station) worker
  -- The scout of the Capability that is free now continues to look for tasks for a while.
  free <- if poolLimit pool > 0 then pure (number station) else capabilityNumber
  void (ring pool free)
  where
    serve worker entry = do
      runs entry
      goesOn (engaged station) worker
      settle
      stays <- belongs pool station
      crowded <- othersCompute (engaged station) worker
      waiting <- inLine (engaged station)
      next <- if stays && not crowded && waiting < longLine then findTask pool else pure Nothing
      -- This is a tail call, which 'mapM_' is not: the stack of a worker does not grow by its tasks.
      maybe (pure ()) (serve worker) next

-- | Looks for a task until it finds one, or until the scout has left its station.
scout :: Pool -> Station -> IO (Maybe Entry)
scout pool station = rest
  where
    rest = do
      stays <- belongs pool station
      waiting <- inLine (engaged station)
      when (waiting > 0) (lineUp (200 :: Int))
      seen <- visible pool
      case () of
        _
          | not stays -> leave >> pure Nothing
          | seen -> do
            free <- politely (10 :: Int)
            if free then findTask pool >>= maybe seek (pure . Just) else rest
          | otherwise -> seek

    -- A worker in line mostly goes on within microseconds. The Capability stays awake meanwhile, as
    -- a wake by the kernel takes longer.
    lineUp n = do
      _ <- stepAside
      busy <- anyComputes (engaged station)
      waiting <- inLine (engaged station)
      case () of
        _
          | busy || waiting == 0 -> pure ()
          | n > 0 -> lineUp (n - 1)
          | otherwise -> when (waiting >= longLine) (ignoring (threadDelay 1000))

    -- Other threads of this Capability run first. Meanwhile other Capabilities may take its tasks.
    politely n = do
      _ <- publish (deques pool)
      free <- stepAside
      busy <- anyComputes (engaged station)
      case () of
        _
          | busy -> if poolLimit pool > 0 then pure False else mayCompute (engaged station) >>= patiently
          | free || n == 0 -> pure True
          | otherwise -> visible pool >>= \seen -> if seen then politely (n - 1) else pure False

    -- A worker that seems to compute may be waiting, with yields, for a task in the deque.
    patiently n = if n <= 0 then pure True else stepAside >>= \free -> if free then patiently (n - 1) else pure False

    seek = do
      addSearching (flags pool) 1
      noteSearch (number station) True
      found <- search True (200 :: Int)
      noteSearch (number station) False
      addSearching (flags pool) (-1)
      either doze (pure . Just) found

    -- If the Capability was not free, the alarm must tell the scout when it idles.
    doze free = do
      unless free (ringWhenIdle pool station)
      over <- sleep pool station free
      if over then pure Nothing else rest

    -- Returns a task, or whether the Capability was free. It counts as busy only after two busy
    -- looks in a row, because a collection takes as long as another thread's turn.
    search before n = do
      over <- readIORef (ended pool)
      free <- if over then pure True else stepAside
      busy <- anyComputes (engaged station)
      if over || busy || not (free || before)
        then pure (Left over)
        else do
          found <- findTask pool
          case found of
            Just entry -> pure (Right entry)
            Nothing -> do
              needed <- regionsNeedAll
              if needed || n == 0
                then pure (Left True)
                else do
                  when (n == 150) (askForPrivate pool)
                  search free (n - 1)

    -- Other stations must take the tasks in the deque now. Or the Capability is in use again, and
    -- needs a scout that runs on it.
    leave = do
      setScout (deques pool) (number station) Absent
      wakeOther pool (number station)
      attend pool (number station)

-- | Sleeps until the bell rings. The argument says whether the Capability idles meanwhile. Returns
-- whether the pool has ended instead.
sleep :: Pool -> Station -> Bool -> IO Bool
sleep pool station idle = do
  startAlarm pool station
  setIdle (deques pool) (flags pool) (number station) idle
  setScout (deques pool) (number station) Asleep
  -- The last look, after the scout has written that it sleeps: (P1), (P2).
  stays <- belongs pool station
  seen <- visible pool
  over <- readIORef (ended pool)
  watched <- readIORef (awaitsIdle station)
  rises <- if not stays || seen || over || not (idle || watched) then changeScout (deques pool) (number station) Asleep (awake pool) else pure False
  if rises then setIdle (deques pool) (flags pool) (number station) False else listen
  if over && not seen
    then True <$ setScout (deques pool) (number station) Absent
    else pure False
  where
    -- An exception to a thread that runs no task is dropped.
    listen = takeMVar (bell station) `catch` \e -> let _ = e :: SomeException in listen

-- | Lets other threads of the Capability run. Returns whether they took less than a millisecond.
stepAside :: IO Bool
stepAside = do
  before <- getMonotonicTimeNSec
  yield
  after <- getMonotonicTimeNSec
  pure (after - before < 1000000)

-- | Drops exceptions: a thread that runs no task is not the target of any exception.
ignoring :: IO () -> IO ()
ignoring action = action `catch` \e -> let _ = e :: SomeException in pure ()

-- | Tells OpenMP's regions that the scout of this Capability begins or ends to look for tasks. A
-- region that begins meanwhile does not take this for Haskell code that computes.
foreign import ccall unsafe "cst_rts_note_search"
  noteSearch :: Int -> Bool -> IO ()

-- | Whether regions of OpenMP need the processor on which the caller looks for tasks. A member of a
-- region would share a processor with another member as long as the caller looks.
foreign import ccall unsafe "cst_rts_regions_need_all"
  regionsNeedAll :: IO Bool
