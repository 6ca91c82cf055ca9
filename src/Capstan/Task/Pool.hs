{-# LANGUAGE RecordWildCards #-}
{-# LANGUAGE TupleSections #-}

-- |
-- Module      : Capstan.Task.Pool
-- Description : The workers of a pool: who looks for tasks, who sleeps, who is woken
--
-- A pool has a deque for each Capability, and a /seat/ on some of them. A seat has one worker at work
-- and one in reserve, both green threads that stay on the Capability: when a task blocks its worker
-- (in an 'MVar', in STM, in a foreign call), the one in reserve goes on.
--
-- A worker that is woken while another thread computes on its Capability is polite: it lets that
-- thread have its time slice, up to ten times. So a Capability is not shared between a program's own
-- thread and a worker while another worker can take the task.
--
-- == Why no task is forgotten
--
-- A seat is /ready/ if none of its workers sleeps. It always has a worker that runs no task
-- ('Crew'): so in a ready seat there is one that will look at the seat's deque, private part and all,
-- before it sleeps.
--
-- (P1) A deque with entries has a ready seat, or somebody is about to wake one. A push into a deque
-- whose seat is not ready is refused, unless the caller has promised to wake a worker; it keeps the
-- promise uninterruptibly, and of the seat where the push was, wherever its thread is by then. A worker
-- that wants to sleep says that the seat is not ready, and looks at its deque after that. The push and
-- the worker's steps are of one Capability, so one of them sees the other. Where a Capability has no seat
-- its entries are public at once, or spilled, and any seat's worker is woken: (P2), with the crew's lock
-- in place of the flags.
--
-- So nobody who waits for tasks has anything to do beforehand. The rest is for speed only:
--
-- (P2) Between Capabilities: a push into a deque whose public part is empty publishes by an atomic
-- operation, and reads the flags after it; a worker raises the flags by an atomic operation, and looks
-- at the public parts after it. One of them sees the other.
--
-- (P3) What is still private when its Capability computes for long without pushing is published by a
-- thread that a worker forks there when it finds nothing else.
module Capstan.Task.Pool
  ( Pool (..),
    Seat,
    newPool,
    endPool,
    serveCapabilities,
    spawn,
    currents,
    poolSize,
  )
where

import Capstan.Task.Cell
import Capstan.Task.Counters (Counters, countPushed, noCounters)
import Capstan.Task.Deque
import Capstan.Task.Run (runClaimed)
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Bits (unsafeShiftR, (.&.))
import Data.IORef
import Data.Maybe (isJust)
import qualified Data.Vector as V
import Foreign.StablePtr (StablePtr, freeStablePtr, newStablePtr)
import GHC.Clock (getMonotonicTimeNSec)
import GHC.Conc (getNumProcessors)
import GHC.IO (unsafeUnmask)

-- | Workers, with the deques that they serve.
data Pool = Pool
  { -- | Its name; empty for the pool of all Capabilities.
    poolName :: !String,
    -- | How many tasks run at once; 0 for as many as there are Capabilities.
    poolLimit :: !Int,
    deques :: !Deques,
    flags :: !Flags,
    uncounted :: !Counters,
    seats :: !(V.Vector Seat),
    -- | Capabilities that were given workers. Who changes it holds it.
    served :: !(MVar Int),
    -- | Whether workers have withdrawn since.
    vacant :: !(IORef Bool),
    -- | Blocks of tasks for which no ring had room.
    spilled :: !(IORef [[Entry]]),
    ended :: !(IORef Bool),
    -- | Keeps the pool, and so the workers that sleep, from the collector. It would tell them that they are
    -- blocked for ever, whenever it finds that all threads that use the pool are.
    root :: !(IORef (Maybe (StablePtr Pool)))
  }

-- | The workers of a pool on one Capability.
data Seat = Seat
  { number :: !Int,
    crew :: !(MVar Crew),
    running :: !(IORef [IORef Current])
  }

-- | How many workers a seat has, how many of them run tasks (never all), and those that sleep.
data Crew = Crew
  { -- | Whether it serves its Capability. It does not once 'setNumCapabilities' has taken that away.
    present :: !Bool,
    threads :: !Int,
    engaged :: !Int,
    sleepers :: [MVar ()]
  }

-- | How many of its tasks run at once.
poolSize :: Pool -> IO Int
poolSize pool = if poolLimit pool > 0 then pure (poolLimit pool) else getNumCapabilities

-- | A pool whose workers have not started.
newPool :: String -> Int -> IO Pool
newPool poolName poolLimit = do
  have <- getNumCapabilities
  processors <- getNumProcessors
  let count = 2 * max have (max processors 4)
  deques <- newDeques count
  flags <- newFlags
  uncounted <- noCounters
  seats <- V.generateM count $ \number ->
    Seat number <$> newMVar (Crew False 0 0 []) <*> newIORef []
  served <- newMVar 0
  vacant <- newIORef False
  spilled <- newIORef []
  ended <- newIORef False
  -- A small pool's seats are not where its tasks are pushed, so its deques are public throughout.
  when (poolLimit > 0) (addSearching flags 1)
  root <- newIORef Nothing
  let pool = Pool {..}
  newStablePtr pool >>= writeIORef root . Just
  pure pool

-- | Gives workers to each Capability that has none, up to the pool's limit.
serveCapabilities :: Pool -> IO ()
serveCapabilities pool = do
  have <- getNumCapabilities
  let want = min (V.length (seats pool)) (if poolLimit pool > 0 then poolLimit pool else have)
  already <- readMVar (served pool)
  vacancy <- readIORef (vacant pool)
  when (already /= want || vacancy) . uninterruptibleMask_ . modifyMVar_ (served pool) $ \_ -> do
    atomicWriteIORef (vacant pool) False
    forM_ (V.take want (seats pool)) $ \seat -> withCrew pool seat $ \state ->
      if present state then pure (state, ()) else (,()) <$> hire pool seat state
    pure want

-- | Ends the workers of a pool, when they have nothing to do.
endPool :: Pool -> IO ()
endPool pool = do
  atomicWriteIORef (ended pool) True
  forM_ (seats pool) $ \seat -> do
    let wakeAll = do
          woken <- wake pool seat
          when woken wakeAll
    wakeAll
  atomicModifyIORef' (root pool) (Nothing,) >>= mapM_ freeStablePtr

-- | What the workers run, for who wants to interrupt some of it.
currents :: Pool -> IO [Current]
currents pool = do
  refs <- forM (V.toList (seats pool)) (readIORef . running)
  mapM readIORef (concat refs)

-- | Pushes a task.
spawn :: Pool -> Counters -> Entry -> IO ()
spawn pool counters entry = do
  answer <- push (deques pool) (flags pool) counters entry False
  if answer == 1 then pure () else spawnSlowly pool counters entry answer
{-# INLINE spawn #-}

-- | What there is to do after a first push, which may have been refused.
spawnSlowly :: Pool -> Counters -> Entry -> Int -> IO ()
spawnSlowly pool counters entry answer
  | answer /= 0 = capability >>= wakeOther pool
  | otherwise = uninterruptibleMask_ $ do
    pushed <- push (deques pool) (flags pool) counters entry True
    if pushed /= 0
      then wakeAfter pool pushed
      else do
        countPushed counters
        spill pool
        again <- push (deques pool) (flags pool) (uncounted pool) entry True
        if again /= 0 then wakeAfter pool again else spillBlock pool [entry]
{-# NOINLINE spawnSlowly #-}

-- | Keeps the promise of a push.
wakeAfter :: Pool -> Int -> IO ()
wakeAfter pool answer = do
  let there = answer `unsafeShiftR` 2
  woken <- wake pool (seats pool V.! there)
  when (not woken || answer .&. 2 /= 0) (wakeOther pool there)

-- | Makes room in the Capability's ring: what is taken goes, the older half of the rest is spilled.
spill :: Pool -> IO ()
spill pool = do
  _ <- publish (deques pool)
  here <- capability
  when (here < capacity (deques pool)) $ do
    block <- stealSome pool here (ringSize `div` 2) >>= filterM (\(Entry cell) -> not <$> isTaken cell)
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
  capability >>= wakeOther pool

-- | Wakes a worker of another Capability than that one; or of that one, if all others are awake.
wakeOther :: Pool -> Int -> IO ()
wakeOther pool here = do
  count <- readMVar (served pool)
  let go n = when (n <= count) $ do
        woken <- wake pool (seats pool V.! ((here + n) `mod` count))
        unless woken (go (n + 1))
  when (count > 0) (go 1)

-- | Wakes a worker of a seat; the answer is whether one slept.
wake :: Pool -> Seat -> IO Bool
wake pool seat = withCrew pool seat $ \state -> case sleepers state of
  [] -> pure (state, False)
  sleeper : others -> (state {sleepers = others}, True) <$ tryPutMVar sleeper ()

-- | Changes the crew, and says who of it sleeps. The lock is held for a moment only.
withCrew :: Pool -> Seat -> (Crew -> IO (Crew, a)) -> IO a
withCrew pool seat change = uninterruptibleMask_ $ do
  (state, answer) <- takeMVar (crew seat) >>= change
  let asleep = length (sleepers state)
  setReady (deques pool) (number seat) (poolLimit pool == 0 && present state && asleep == 0)
  setIdle (deques pool) (flags pool) (number seat) (asleep > 0 && asleep == threads state)
  putMVar (crew seat) state
  pure answer

-- | Starts a worker.
hire :: Pool -> Seat -> Crew -> IO Crew
hire pool seat state = do
  current <- newIORef NoTask
  atomicModifyIORef' (running seat) (\all' -> (current : all', ()))
  -- Whatever the state of exceptions that the worker inherits, they must reach its tasks.
  thread <- forkOn (number seat) . unsafeUnmask . mask_ $ work pool seat current
  (place, _) <- threadCapability thread
  pure state {threads = threads state + 1, present = poolLimit pool > 0 || place == number seat}

-- | Whether a worker can serve its seat: it is on the Capability, and that is in use.
belongs :: Pool -> Seat -> IO Bool
belongs pool seat
  | poolLimit pool > 0 = pure True
  | otherwise = do
    here <- capability
    have <- getNumCapabilities
    pure (here == number seat && here < have)

-- | A worker's life. It is masked but for the tasks themselves.
work :: Pool -> Seat -> IORef Current -> IO ()
work pool seat current = (myThreadId >>= mkWeakThreadId) >>= workAs pool seat current . Worker

workAs :: Pool -> Seat -> IORef Current -> Runner -> IO ()
workAs pool seat current self = rest
  where
    rest = do
      there <- belongs pool seat
      over <- readIORef (ended pool)
      seen <- visible pool
      case () of
        _
          | not there -> leave False >> withdrawn
          | seen -> do
            free <- politely (10 :: Int)
            state <- readMVar (crew seat)
            idle <- if free then patiently (engaged state) else pure False
            if idle then look else rest
          | over -> leave True
          | otherwise -> sleep pool seat >>= \stays -> if stays then rest else leave True

    -- Another thread of this Capability goes first; its tasks are for the others to take meanwhile.
    politely n = do
      _ <- publish (deques pool)
      free <- stepAside
      seen <- visible pool
      if free || n == 0 then pure seen else if seen then politely (n - 1) else pure False

    -- The more workers of the seat are at work, the longer the Capability must have been free: those that
    -- wait for a moment only (for each other's thunks, say) are not to be joined by ever more.
    patiently n = if n <= 0 then pure True else stepAside >>= \free -> if free then patiently (n - 1) else pure False

    look = do
      found <- findTask pool
      maybe seek engage found

    seek = do
      addSearching (flags pool) 1
      found <- search (200 :: Int)
      addSearching (flags pool) (-1)
      maybe rest engage found

    search n = do
      found <- findTask pool
      free <- stepAside
      case found of
        Just _ -> pure found
        Nothing
          | n == 0 || not free -> pure Nothing
          | otherwise -> do
            when (n == 150) (askForPrivate pool)
            search (n - 1)

    engage entry = do
      stays <- withCrew pool seat $ \state -> do
        now <- if threads state - engaged state <= 1 then hire pool seat state else pure state
        pure (now {engaged = engaged now + 1}, present now)
      unless stays withdrawn
      serve entry
      left <- withCrew pool seat $ \state -> do
        let left = engaged state - 1
        pure (state {engaged = left}, left)
      if left == 0 then seek else rest

    serve (Entry entry) = do
      runClaimed self (currents pool) current entry
      state <- readMVar (crew seat)
      when (engaged state == 1 && present state) (findTask pool >>= maybe (pure ()) serve)

    leave stays = withCrew pool seat $ \state -> do
      atomicModifyIORef' (running seat) (\all' -> (filter (/= current) all', ()))
      let fewer = state {threads = threads state - 1, present = present state && stays}
      have <- getNumCapabilities
      -- A Capability that is in use again needs a worker that is on it.
      now <- if stays || number seat >= have then pure fewer else hire pool seat fewer
      pure (now, ())

    -- What is in the deque is for other seats now.
    withdrawn = do
      atomicWriteIORef (vacant pool) True
      _ <- publish (deques pool)
      capability >>= wakeOther pool

-- | Lets other threads of the Capability run; the answer is whether there were none to speak of.
stepAside :: IO Bool
stepAside = do
  before <- getMonotonicTimeNSec
  yield
  after <- getMonotonicTimeNSec
  pure (after - before < 1000000)

-- | Sleeps until it is woken. The answer is 'False' if the seat has sleepers enough.
sleep :: Pool -> Seat -> IO Bool
sleep pool seat = do
  sleeper <- newEmptyMVar
  stays <- withCrew pool seat $ \state ->
    pure $
      if length (sleepers state) >= 2
        then (state, False)
        else (state {sleepers = sleeper : sleepers state}, True)
  when stays $ do
    -- The last look, after the seat's readiness and the flags were lowered: (P1), (P2).
    over <- readIORef (ended pool)
    seen <- visible pool
    unless (over || seen) (takeMVar sleeper `catch` \e -> let _ = e :: SomeAsyncException in pure ())
    withCrew pool seat $ \state -> pure (state {sleepers = filter (/= sleeper) (sleepers state)}, ())
  pure stays

-- | Whether there is something to take.
visible :: Pool -> IO Bool
visible pool = do
  own <- publish (deques pool)
  if own > 0
    then pure True
    else do
      blocks <- readIORef (spilled pool)
      if null blocks then anyM (hasPublic (deques pool)) [0 .. capacity (deques pool) - 1] else pure True

anyM :: (a -> IO Bool) -> [a] -> IO Bool
anyM test = foldr (\x rest -> test x >>= \yes -> if yes then pure True else rest) (pure False)

-- | The oldest task of this Capability, else of another, else of those that were spilled.
findTask :: Pool -> IO (Maybe Entry)
findTask pool = do
  _ <- publish (deques pool)
  here <- capability
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
    else do
      block <- atomicModifyIORef' (spilled pool) (\now -> (drop 1 now, concat (take 1 now)))
      case block of
        [] -> takeSpilled pool
        entry : others -> Just entry <$ mapM_ (spawn pool (uncounted pool)) others

-- | Publishes the private tasks of Capabilities that have no others, by a thread on each.
askForPrivate :: Pool -> IO ()
askForPrivate pool = do
  count <- readMVar (served pool)
  forM_ [0 .. count - 1] $ \n -> do
    private <- hasPrivate (deques pool) n
    when private (void (forkOn n (void (publish (deques pool)))))
