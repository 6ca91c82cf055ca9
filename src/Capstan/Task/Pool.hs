{-# LANGUAGE RecordWildCards #-}
{-# LANGUAGE TupleSections #-}

-- |
-- Module      : Capstan.Task.Pool
-- Description : The workers of a pool: who looks for tasks, who sleeps, who is woken
--
-- A pool has a deque for each Capability, and a /station/ on each that is in use. A station has one /scout/, a
-- green thread that stays on the Capability and looks for tasks, sleeps when there are none, and is the only one
-- of the station that sleeps. When it finds a task it appoints its successor, another thread, and runs that task and those
-- that it finds next; then it ends. So when a task blocks its worker (in an 'MVar', in STM, in a foreign
-- call), the new scout goes on.
--
-- A scout is polite: it lets a thread of the program that computes on its Capability have its time slice, up to
-- ten times, and one that runs a task have it for as long as that computes. So a Capability is not shared
-- while another worker can take the task.
--
-- A worker that blocks is replaced, for what it waits for may be in a deque. Where several wait for a value that another thread
-- computes, as one after another does where all tasks change one reference, the station takes only a task in a
-- millisecond until they go on: each more would make the line longer, and the way along it leads from
-- Capability to Capability.
--
-- == Why no task is forgotten
--
-- How the scout is stands in one word, 'Scout', that changes by compare-and-swap. Who swaps it from asleep to
-- awake rings the bell, once, and the scout takes that ring, once. Nobody ever waits for a lock here.
--
-- (P1) A deque with entries has a scout that is awake, or somebody is about to wake one, as where it is on call
-- ("Capstan.Task.Pool.Station"). A push where the scout is not awake is refused, unless the caller has promised to wake
-- it; the promise is kept uninterruptibly, and on the station where the push was, wherever the thread is by then. The
-- scout says that it sleeps, and looks at its deque after that, private part and all. The push and the scout's
-- steps are of one Capability, so one of them sees the other.
--
-- (P2) Between Capabilities: who makes something public does so by an atomic operation, and looks for sleepers after it;
-- a scout says that it sleeps by an atomic operation, and looks at the public parts after it. One of them
-- sees the other.
--
-- (P3) A scout that finds that it is not on its Capability any more, or that this is not in use, leaves: it says that the
-- station has none, and wakes another, or knows by (P2) that the others will look. Who looks and finds private
-- entries in a deque without a scout publishes them if the Capability is not in use ("Capstan.Task.Work.Deque",
-- D5), else appoints a scout there. So 'Control.Concurrent.setNumCapabilities' strands nothing.
--
-- (P4) In the child of a @forkProcess@ the pool begins anew ("Capstan.Task.Pool.Process"): nobody there serves what the parent's
-- threads have left, and it is not the child's to run.
--
-- So nobody who waits for tasks has anything to do beforehand. The rest is for speed only: what is still private when
-- its Capability computes for long without pushing is published by a thread that a scout forks there when
-- it finds nothing else.
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

import Capstan.Prim (capabilityNumber)
import Capstan.Task.Pool.Process
import Capstan.Task.Pool.Scout
import Capstan.Task.Pool.Station
import Capstan.Task.Pool.Workers
import Capstan.Task.Thread.Seeded (asMember, offer)
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

-- | Whether a loop is to give half of what is left away: someone is hungry, and not because the bodies block. A worker
-- that blocks is replaced, for it may wait for another task; but where bodies wait for each other, for a lock or
-- for what 'Data.IORef.atomicModifyIORef' has left unevaluated, each more would only make the line longer.
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
  stations <- V.generateM count $ \number -> Station number <$> newEmptyMVar <*> newEmptyMVar <*> newIORef False <*> newIORef False <*> newWorkers
  spilled <- newIORef []
  ended <- newIORef False
  process <- newProcess
  root <- newIORef Nothing
  let pool = Pool {..}
  whoSearch pool
  newStablePtr pool >>= writeIORef root . Just
  pure pool

-- | The last pause of the non-moving collector is to come soon.
foreign import ccall unsafe "cst_rts_note_tasks"
  noteTasks :: IO ()

-- | Says that somebody looks for work for ever, if the pool is a small one. Its stations are not where its tasks are pushed, so its
-- deques are public throughout.
whoSearch :: Pool -> IO ()
whoSearch pool = when (poolLimit pool > 0) (addSearching (flags pool) 1)

-- | In the child of a fork: no workers, no tasks (P4).
beginAnew :: Pool -> IO ()
beginAnew pool = inProcess (process pool) $ do
  clearDeques (deques pool)
  clearFlags (flags pool)
  whoSearch pool
  atomicWriteIORef (spilled pool) []
  forM_ (stations pool) $ \station -> do
    _ <- tryTakeMVar (bell station)
    _ <- tryTakeMVar (idles station)
    writeIORef (awaitsIdle station) False
    writeIORef (hasAlarm station) False
    clearWorkers (engaged station)

-- | Gives scouts to the Capabilities that have none, up to the pool's limit. One that sleeps because its Capability was busy looks again:
-- the thread that computed there may be the caller, which has moved.
serveCapabilities :: Pool -> IO ()
serveCapabilities pool = do
  beginAnew pool
  want <- poolSize pool
  forM_ [0 .. min want (V.length (stations pool)) - 1] $ \n -> do
    now <- scoutOf (deques pool) n
    looksAgain <- if now == Asleep || now == OnCall then (&&) . (/= n) <$> capabilityNumber <*> (not <$> isIdle (deques pool) n) else pure False
    -- All of it is done, as in 'spawnValue'.
    when (now == Absent || looksAgain) (noDuplicate >> void (if looksAgain then ring pool n else attend pool n))

-- | Ends the workers of a pool, when they have nothing to do.
endPool :: Pool -> IO ()
endPool pool = do
  atomicWriteIORef (ended pool) True
  forM_ [0 .. V.length (stations pool) - 1] (ring pool)
  atomicModifyIORef' (root pool) (Nothing,) >>= mapM_ freeStablePtr

-- | Pushes a task.
spawn :: Pool -> Counters -> Cell a -> IO ()
spawn pool counters cell = do
  answer <- push (deques pool) (flags pool) counters cell
  if answer == 1 then pure () else spawnSlowly pool counters cell answer
{-# INLINE spawn #-}

-- | Pushes what is part of a value. The slow way is gone to its end: nobody else evaluates then what the caller evaluates
-- ("Capstan.Task.Join.Fork").
spawnValue :: Pool -> Cell a -> IO ()
spawnValue pool cell = do
  answer <- push (deques pool) (flags pool) (uncounted pool) cell
  if answer == 1 then pure () else noDuplicate >> spawnSlowly pool (uncounted pool) cell answer
{-# INLINE spawnValue #-}

-- | What there is to do after a first push, which may have been refused.
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
    -- A thread of a seeded run is remembered nowhere, so that it always comes here.
    offerCell me entryIn = do
      entry <- entryIn <$> (placeHere >>= contextAt)
      offer me (countPushed counters) (isWanted entry) (workerPlace (\mine self -> runClaimed mine self entry))
{-# NOINLINE spawnSlowly #-}

-- | Pushes a task where the scout sleeps, or puts it where all find it. The caller is uninterruptible.
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

-- | Keeps the promise of a push.
wakeAfter :: Pool -> Int -> IO ()
wakeAfter pool answer = do
  let there = answer `unsafeShiftR` 2
  -- Where all slept there may be Capabilities that are new.
  serveCapabilities pool
  served <- attendAfterPush pool there
  unless (served && answer .&. 2 == 0) (wakeOther pool there)

-- | As 'attend', where the caller has pushed something. While it computes it needs no scout, as others take what it has pushed; one that were
-- awake would take the Capability from it at each end of a slice, which takes two switches of the system's threads if the caller is bound. So
-- the scout is put on call if there are others.
attendAfterPush :: Pool -> Int -> IO Bool
attendAfterPush pool n = do
  have <- getNumCapabilities
  now <- if have > 1 && poolLimit pool == 0 && n < V.length (stations pool) then scoutOf (deques pool) n else pure Absent
  if now == Asleep then True <$ putOnCall pool (stations pool V.! n) else attend pool n

-- | Makes room in the Capability's ring: what is taken goes, the older half of the rest is spilled.
spill :: Pool -> IO ()
spill pool = do
  _ <- publish (deques pool)
  here <- capabilityNumber
  when (here < capacity (deques pool)) $ do
    block <- stealSome pool here (ringSize `div` 2) >>= filterM isWanted
    unless (null block) (spillBlock pool block)

-- | Takes the oldest public tasks of a deque, so many at most.
stealSome :: Pool -> Int -> Int -> IO [Entry]
stealSome pool from = go
  where
    go :: Int -> IO [Entry]
    go 0 = pure []
    go n = steal (deques pool) from >>= maybe (pure []) (\entry -> (entry :) <$> go (n - 1))

-- | Puts tasks where any worker finds them.
spillBlock :: Pool -> [Entry] -> IO ()
spillBlock pool block = do
  atomicModifyIORef' (spilled pool) (\blocks -> (block : blocks, ()))
  capabilityNumber >>= wakeOther pool

-- | Sees to it that the scout of a station is awake, if there is to be one. The answer is whether there is.
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

-- | Whether a station is to have a scout.
isServed :: Pool -> Int -> IO Bool
isServed pool n = do
  over <- readIORef (ended pool)
  size <- poolSize pool
  pure (not over && n < size)

-- | Whether the caller, a worker of the station, can serve it: it is on the Capability, and that is in use.
belongs :: Pool -> Station -> IO Bool
belongs pool station
  | poolLimit pool > 0 = pure True
  | otherwise = do
    here <- capabilityNumber
    have <- getNumCapabilities
    pure (here == number station && here < have)

-- | Starts the thread that is the station's scout now.
appoint :: Pool -> Station -> IO ()
appoint pool station =
  -- Whatever the state of exceptions that the thread inherits, they must reach its tasks.
  void . forkOn (number station) . masked . workerPlace $ \place self ->
    scout pool station >>= mapM_ (work pool station place self)

-- | Runs a task, and those that are found then. The thread is masked but for the tasks themselves.
work :: Pool -> Station -> Place -> Self -> Entry -> IO ()
work pool station place self first = do
  worker <- engage (engaged station) place
  addEngaged (flags pool) 1
  appoint pool station
  serve worker first
  addEngaged (flags pool) (-1)
  retire (engaged station) worker
  -- The scout goes on looking for a while.
  void (ring pool (number station))
  where
    serve worker entry = do
      runClaimed place self entry
      goesOn (engaged station) worker
      stays <- belongs pool station
      crowded <- othersCompute (engaged station) worker
      waiting <- inLine (engaged station)
      when (stays && not crowded && not waiting) (findTask pool >>= mapM_ (serve worker))

-- | Looks for a task until there is one, or until the scout has left its station.
scout :: Pool -> Station -> IO (Maybe Entry)
scout pool station = rest
  where
    rest = do
      stays <- belongs pool station
      waiting <- inLine (engaged station)
      when waiting (ignoring (threadDelay 1000))
      seen <- visible pool
      case () of
        _
          | not stays -> leave >> pure Nothing
          | seen -> do
            free <- politely (10 :: Int)
            if free then findTask pool >>= maybe seek (pure . Just) else rest
          | otherwise -> seek

    -- Others of this Capability go first; its tasks are for the others to take meanwhile.
    politely n = do
      _ <- publish (deques pool)
      free <- stepAside
      busy <- anyComputes (engaged station)
      case () of
        _
          | busy -> if poolLimit pool > 0 then pure False else mayCompute (engaged station) >>= patiently
          | free || n == 0 -> pure True
          | otherwise -> visible pool >>= \seen -> if seen then politely (n - 1) else pure False

    -- A worker that computes may be waiting, by yields, for what is in the deque.
    patiently n = if n <= 0 then pure True else stepAside >>= \free -> if free then patiently (n - 1) else pure False

    seek = do
      addSearching (flags pool) 1
      found <- search True (200 :: Int)
      addSearching (flags pool) (-1)
      either doze (pure . Just) found

    -- Nobody else would say that the Capability idles.
    doze free = do
      unless free (ringWhenIdle pool station)
      over <- sleep pool station free
      if over then pure Nothing else rest

    -- The task, or whether the Capability was free. Once is not enough for that it was not: a collection takes as
    -- long as another thread's turn.
    search before n = do
      free <- stepAside
      busy <- anyComputes (engaged station)
      if busy || not (free || before)
        then pure (Left False)
        else do
          found <- findTask pool
          case found of
            Just entry -> pure (Right entry)
            Nothing
              | n == 0 -> pure (Left True)
              | otherwise -> do
                when (n == 150) (askForPrivate pool)
                search free (n - 1)

    -- What is in the deque is for other stations now; or the Capability is in use again and needs a scout that is
    -- on it.
    leave = do
      setScout (deques pool) (number station) Absent
      wakeOther pool (number station)
      attend pool (number station)

-- | Lets other threads of the Capability run; the answer is whether there were none to speak of.
stepAside :: IO Bool
stepAside = do
  before <- getMonotonicTimeNSec
  yield
  after <- getMonotonicTimeNSec
  pure (after - before < 1000000)

-- | Whatever comes to a thread that runs no task is not for it.
ignoring :: IO () -> IO ()
ignoring action = action `catch` \e -> let _ = e :: SomeException in pure ()

-- | Sleeps until the bell rings, given whether the Capability idles meanwhile. The answer is whether the pool has
-- ended instead.
sleep :: Pool -> Station -> Bool -> IO Bool
sleep pool station idle = do
  startAlarm pool station
  setIdle (deques pool) (flags pool) (number station) idle
  setScout (deques pool) (number station) Asleep
  -- The last look, after all know that this one sleeps: (P1), (P2).
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
    -- Whatever comes to a thread that runs no task is not for it.
    listen = takeMVar (bell station) `catch` \e -> let _ = e :: SomeException in listen

-- | Whether there is something to take. Sees to deques that nobody serves.
visible :: Pool -> IO Bool
visible pool = do
  own <- publish (deques pool)
  if own > 0
    then pure True
    else do
      blocks <- readIORef (spilled pool)
      if null blocks then anyM seen [0 .. capacity (deques pool) - 1] else pure True
  where
    seen n = hasPublic (deques pool) n >>= \public -> if public then pure True else rescue pool n

-- | Sees to it that private entries of a deque without a scout are not forgotten (P3). The answer is whether they
-- are public now.
rescue :: Pool -> Int -> IO Bool
rescue pool n = do
  private <- hasPrivate (deques pool) n
  now <- scoutOf (deques pool) n
  if not private || now /= Absent
    then pure False
    else do
      published <- publishOf (deques pool) n
      if published > 0 then pure True else False <$ attend pool n

-- | The oldest task of this Capability, else of another, else of those that were spilled.
findTask :: Pool -> IO (Maybe Entry)
findTask pool = do
  _ <- publish (deques pool)
  here <- capabilityNumber
  let count = capacity (deques pool)
      go n
        | n == count = takeSpilled pool
        | otherwise = do
          found <- steal (deques pool) ((here + n) `mod` count)
          if isJust found then pure found else go (n + 1)
  go 0

-- | Takes a block of spilled tasks: one for the caller, the others for its ring.
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

-- | Publishes the private tasks of Capabilities that have no others, by a thread on each.
askForPrivate :: Pool -> IO ()
askForPrivate pool = do
  have <- getNumCapabilities
  forM_ [0 .. min have (capacity (deques pool)) - 1] $ \n -> do
    private <- hasPrivate (deques pool) n
    when private (void (forkOn n (void (publish (deques pool)))))
