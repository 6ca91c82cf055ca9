{-# LANGUAGE RecordWildCards #-}
{-# LANGUAGE TupleSections #-}

-- |
-- Module      : Capstan.Task.Pool
-- Description : The workers of a pool: how they look for tasks, sleep and are woken
--
-- A pool has a deque for each Capability, and a /station/ on each Capability that is in use. A
-- station has one /scout/, a green thread that stays on the Capability and looks for tasks. The
-- scout sleeps when there are no tasks, and no other thread of the station sleeps. When it finds a
-- task, it appoints another thread as its successor. Then it runs that task and further tasks that
-- it finds, and ends. So when a task blocks its worker (in an 'MVar', in STM, in a foreign call),
-- the new scout goes on.
--
-- A scout is polite. It lets a thread of the program that computes on its Capability have its time
-- slice, up to ten times. It lets a thread that runs a task keep the Capability while the task
-- computes. So a Capability is not shared while another worker can take the task.
--
-- A worker is locked to its Capability. But once the scout has found it blocked, in an 'MVar' or in
-- STM, GHC may move it to a Capability that idles. Otherwise all tasks that one station has begun,
-- and that are woken at the same time, would share one Capability. A worker that has moved ends with
-- its task.
--
-- A worker that blocks is replaced, because it may wait for a task in a deque. But several workers
-- may wait for values that other threads compute, for example when all tasks change one reference.
-- Then the station takes only one task in a millisecond until these workers go on. Each further
-- task would make the line of waiting workers longer, and the value passes along this line from
-- Capability to Capability.
--
-- == Why no task is forgotten
--
-- The scout's state is one word, 'Scout', that changes by compare-and-swap. The thread that swaps
-- it from asleep to awake rings the bell, once, and the scout takes that ring, once. No thread ever
-- waits for a lock here.
--
-- (P1) If a deque has entries, its scout is awake, or a thread is about to wake it, as when it is
-- on call ("Capstan.Task.Pool.Station"). If the scout is not awake, a push is refused, unless the
-- caller has promised to wake the scout. The caller keeps the promise uninterruptibly, for the
-- station of the push, even if GHC has moved the caller meanwhile. The scout first writes that it
-- sleeps, and then looks at its deque, including the private part. The push and the scout's steps
-- happen on one Capability, so one of them sees the other.
--
-- (P2) Between Capabilities: a thread publishes tasks by an atomic operation, and looks for
-- sleepers afterwards. A scout writes by an atomic operation that it sleeps, and looks at the
-- public parts afterwards. One of them sees the other.
--
-- (P3) A scout leaves its station when it finds that it is no longer on its Capability, or that the
-- Capability is not in use. It writes that the station has no scout, and wakes another scout, or
-- knows by (P2) that the others will look. A scout may find private entries in a deque without a
-- scout. If that Capability is not in use, it publishes the entries ("Capstan.Task.Work.Deque",
-- D5); otherwise it appoints a scout there. So 'Control.Concurrent.setNumCapabilities' leaves no
-- task behind.
--
-- (P4) In the child of a @forkProcess@ the pool begins anew ("Capstan.Task.Pool.Process"). The
-- tasks of the parent's threads belong to the parent, and the child does not run them.
--
-- So a thread that waits for a task need not take any step beforehand. The rest is for speed only.
-- A Capability may compute for long without pushing, while its entries stay private. A scout that
-- finds no other task forks a thread there, which publishes these entries.
module Capstan.Task.Pool
  ( Pool (..),
    newPool,
    endPool,
    serveCapabilities,
    spawn,
    spawnValue,
    makeWay,
    poolSize,
    divides,
  )
where

import Capstan.Capability (capabilityNumber)
import Capstan.Task.Pool.Process
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Station
import Capstan.Task.Pool.Threads
import Capstan.Task.Pool.Workers
import Capstan.Task.Thread.Seeded (asMember, offer)
import Capstan.Task.Thread.Stay (settle)
import Capstan.Task.Thread.Target (Self, masked)
import Capstan.Task.Work.Cell
import Capstan.Task.Work.Counters (Counters, countPushed, noCounters)
import Capstan.Task.Work.Deque
import Capstan.Task.Work.Group
import Capstan.Task.Work.Run (isWanted, runClaimed)
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Bits (unsafeShiftR, (.&.))
import Data.IORef
import Data.Maybe (isJust)
import qualified Data.Vector as V
import Foreign.StablePtr (freeStablePtr, newStablePtr)
import GHC.Clock (getMonotonicTimeNSec)
import GHC.Conc (getNumProcessors)
import GHC.IO (noDuplicate)

-- | Whether a loop should give away half of its remaining part: another Capability is hungry, and
-- not because the bodies block. A worker that blocks is replaced, for it may wait for another task.
-- But bodies may wait for each other, for a lock or for a value that 'Data.IORef.atomicModifyIORef'
-- has left unevaluated. Then each further worker would only make the line longer.
divides :: Pool -> IO Bool
divides pool = do
  wanted <- hungry (deques pool) (flags pool)
  if not wanted
    then pure False
    else do
      engagedNow <- engagedWorkers (flags pool)
      size <- poolSize pool
      pure (engagedNow < 16 * size)

-- | A pool whose workers have not started.
newPool :: String -> Int -> IO Pool
newPool poolName poolLimit = do
  noteTasks
  have <- getNumCapabilities
  processors <- getNumProcessors
  let count = max poolLimit (2 * max have (max processors 4))
  deques <- newDeques count
  flags <- newFlags
  uncounted <- noCounters
  stations <- V.generateM count $ \number -> Station number <$> newEmptyMVar <*> newEmptyMVar <*> newIORef False <*> newIORef False <*> newWorkers (if poolLimit > 0 then Nothing else Just number)
  spilled <- newIORef []
  ended <- newIORef False
  threads <- newThreads
  process <- newProcess
  root <- newIORef Nothing
  let pool = Pool {..}
  whoSearch pool
  newStablePtr pool >>= writeIORef root . Just
  pure pool

-- | Asks the runtime to shorten the last pause of the non-moving collector, from now on.
foreign import ccall unsafe "cst_rts_note_tasks"
  noteTasks :: IO ()

-- | Marks a small pool as always searched. Its stations are not on the Capabilities where its tasks
-- are pushed, so its deques must be public at all times.
whoSearch :: Pool -> IO ()
whoSearch pool = when (poolLimit pool > 0) (addSearching (flags pool) 1)

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

-- | Ends a pool, and waits until its threads have ended. A worker first ends its task. If nobody
-- waited, a program that makes pools faster than their threads end would keep all these pools.
endPool :: Pool -> IO ()
endPool pool = do
  atomicWriteIORef (ended pool) True
  forM_ (stations pool) $ \station -> ring pool (number station) >> tryPutMVar (idles station) ()
  awaitNone (threads pool) `finally` (atomicModifyIORef' (root pool) (Nothing,) >>= mapM_ freeStablePtr)

-- | Pushes a task.
spawn :: Pool -> Counters -> Cell a -> IO ()
spawn pool counters cell = do
  answer <- push (deques pool) (flags pool) counters cell
  if answer == 1 then pure () else spawnSlowly pool counters cell answer
{-# INLINE spawn #-}

-- | Pushes a part of a value. The slow path must be completed, so 'noDuplicate' first ensures that
-- no other thread evaluates the caller's value ("Capstan.Task.Join.Fork").
spawnValue :: Pool -> Cell a -> IO ()
spawnValue pool cell = do
  answer <- push (deques pool) (flags pool) (uncounted pool) cell
  if answer == 1 then pure () else noDuplicate >> spawnSlowly pool (uncounted pool) cell answer
{-# INLINE spawnValue #-}

-- | The rest of a push, after the first attempt, which may have been refused.
spawnSlowly :: Pool -> Counters -> Cell a -> Int -> IO ()
spawnSlowly pool counters cell answer
  | answer /= 0 = capabilityNumber >>= wakeOther pool
  | otherwise = asMember (`offerCell` entryOf cell) . uninterruptibleMask_ $ do
    beginAnew pool
    place <- placeHere
    remember (deques pool) place
    again <- push (deques pool) (flags pool) counters cell
    case again of
      0 -> contextAt place >>= spawnSurely pool counters . entryOf cell
      1 -> pure ()
      _ -> capabilityNumber >>= wakeOther pool
  where
    -- No deque remembers a thread of a seeded run, so its pushes always come here.
    offerCell me entryIn = do
      entry <- entryIn <$> (placeHere >>= contextAt)
      offer me (countPushed counters) (isWanted entry) (workerPlace (\mine self -> runClaimed mine self entry))
{-# NOINLINE spawnSlowly #-}

-- | Pushes a task even if the scout sleeps, or spills it, so that all workers find it. The caller
-- is uninterruptible.
spawnSurely :: Pool -> Counters -> Entry -> IO ()
spawnSurely pool counters entry = do
  pushed <- pushSurely (deques pool) (flags pool) counters entry
  if pushed /= 0
    then wakeAfter pool pushed
    else do
      countPushed counters
      spill pool
      again <- pushSurely (deques pool) (flags pool) (uncounted pool) entry
      if again /= 0 then wakeAfter pool again else spillBlock pool [entry]

-- | Keeps the promise of a push to wake a scout.
wakeAfter :: Pool -> Int -> IO ()
wakeAfter pool answer = do
  let there = answer `unsafeShiftR` 2
  -- If all scouts slept, some Capabilities may be new.
  serveCapabilities pool
  served <- attendAfterPush pool there
  unless (served && answer .&. 2 == 0) (wakeOther pool there)

-- | As 'attend', after a push of the caller. While the caller computes, it needs no scout, as other
-- Capabilities take its tasks. A scout that is awake would take the Capability from the caller at
-- each end of a slice, which costs two switches of OS threads if the caller is bound. So the scout
-- is put on call if there are other Capabilities.
attendAfterPush :: Pool -> Int -> IO Bool
attendAfterPush pool n = do
  have <- getNumCapabilities
  now <- if have > 1 && poolLimit pool == 0 && n < V.length (stations pool) then scoutOf (deques pool) n else pure Absent
  if now == Asleep then True <$ putOnCall pool (stations pool V.! n) else attend pool n

-- | Makes room in the Capability's ring: removes entries that were claimed, and spills the older
-- half of the rest.
spill :: Pool -> IO ()
spill pool = do
  _ <- publish (deques pool)
  here <- capabilityNumber
  when (here < capacity (deques pool)) $ do
    block <- stealSome pool here (ringSize `div` 2) >>= filterM isWanted
    unless (null block) (spillBlock pool block)

-- | Takes the oldest public tasks of a deque, at most the given number.
stealSome :: Pool -> Int -> Int -> IO [Entry]
stealSome pool from = go
  where
    go :: Int -> IO [Entry]
    go 0 = pure []
    go n = steal (deques pool) from >>= maybe (pure []) (\entry -> (entry :) <$> go (n - 1))

-- | Puts a block of tasks into the list of spilled tasks, where any worker finds them.
spillBlock :: Pool -> [Entry] -> IO ()
spillBlock pool block = do
  atomicModifyIORef' (spilled pool) (\blocks -> (block : blocks, ()))
  capabilityNumber >>= wakeOther pool

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

-- | Starts the station's new scout.
appoint :: Pool -> Station -> IO ()
appoint pool station =
  -- The thread must not inherit a masking state that keeps exceptions from its tasks.
  counted (threads pool) (void . forkOn (number station)) . masked . workerPlace $ \place self ->
    scout pool station >>= mapM_ (work pool station place self)

-- | Runs a task, and further tasks that it finds. The thread has exceptions masked, except within
-- the tasks.
work :: Pool -> Station -> Place -> Self -> Entry -> IO ()
work pool station place self first = do
  worker <- engage (engaged station) place
  addEngaged (flags pool) 1
  appoint pool station
  serve worker first
  addEngaged (flags pool) (-1)
  retire (engaged station) worker
  -- The scout of the Capability that is free now continues to look for tasks for a while.
  free <- if poolLimit pool > 0 then pure (number station) else capabilityNumber
  void (ring pool free)
  where
    serve worker entry = do
      runClaimed place self entry
      goesOn (engaged station) worker
      settle
      stays <- belongs pool station
      crowded <- othersCompute (engaged station) worker
      waiting <- inLine (engaged station)
      when (stays && not crowded && waiting < longLine) (findTask pool >>= mapM_ (serve worker))

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

-- | Tells OpenMP's regions that the scout of this Capability begins or ends to look for tasks. A
-- region that begins meanwhile does not take this for Haskell code that computes.
foreign import ccall unsafe "cst_rts_note_search"
  noteSearch :: Int -> Bool -> IO ()

-- | Whether regions of OpenMP need the processor on which the caller looks for tasks. A member of a
-- region would share a processor with another member as long as the caller looks.
foreign import ccall unsafe "cst_rts_regions_need_all"
  regionsNeedAll :: IO Bool

-- | Whether there is a task to take. Also takes care of deques that have no scout. The look at the
-- deques is sequentially consistent, so it comes after what the caller has written. The list of
-- spilled tasks is read after that, as AArch64 does not keep a plain read behind an earlier write.
visible :: Pool -> IO Bool
visible pool = do
  own <- publish (deques pool)
  public <- if own > 0 then pure True else anyM seen [0 .. capacity (deques pool) - 1]
  if public then pure True else not . null <$> readIORef (spilled pool)
  where
    seen n = hasPublic (deques pool) n >>= \public -> if public then pure True else rescue pool n

-- | Ensures that private entries of a deque without a scout are not left behind (P3). Returns
-- whether they are public now.
rescue :: Pool -> Int -> IO Bool
rescue pool n = do
  private <- hasPrivate (deques pool) n
  now <- scoutOf (deques pool) n
  if not private || now /= Absent
    then pure False
    else do
      published <- publishOf (deques pool) n
      if published > 0 then pure True else False <$ attend pool n

-- | Takes the oldest task of this Capability, else of another Capability, else a spilled task. If
-- there are more, and another Capability idles, its scout is woken.
findTask :: Pool -> IO (Maybe Entry)
findTask pool = do
  _ <- publish (deques pool)
  here <- capabilityNumber
  let count = capacity (deques pool)
      go n
        | n == count = takeSpilled pool
        | otherwise = do
          let from = (here + n) `mod` count
          found <- steal (deques pool) from
          if isJust found then found <$ share here from else go (n + 1)
  go 0
  where
    share here from = do
      idle <- anyIdle (flags pool)
      more <- if idle then hasPublic (deques pool) from else pure False
      when more (wakeOther pool here)

-- | Takes a block of spilled tasks: returns one task, and pushes the others to the caller's ring.
takeSpilled :: Pool -> IO (Maybe Entry)
takeSpilled pool = do
  blocks <- readIORef (spilled pool)
  if null blocks
    then pure Nothing
    else uninterruptibleMask_ $ do
      block <- atomicModifyIORef' (spilled pool) (\now -> (drop 1 now, concat (take 1 now))) >>= filterM isWanted
      case block of
        [] -> takeSpilled pool
        entry : others -> Just entry <$ mapM_ (spawnSurely pool (uncounted pool)) others

-- | Publishes the private tasks of all Capabilities, by a thread on each Capability that has some.
askForPrivate :: Pool -> IO ()
askForPrivate pool = do
  have <- getNumCapabilities
  forM_ [0 .. min have (capacity (deques pool)) - 1] $ \n -> do
    private <- hasPrivate (deques pool) n
    when private (counted (threads pool) (void . forkOn n) tell)
  where
    -- The scout that asked may sleep by now.
    tell = do
      published <- publish (deques pool)
      idle <- anyIdle (flags pool)
      when (published > 0 && idle) (capabilityNumber >>= wakeOther pool)
