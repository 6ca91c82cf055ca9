{-# LANGUAGE RecordWildCards #-}

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
-- (P1) On one Capability: a push reads whether a worker of the seat sleeps, and wakes it. The worker
-- says that it sleeps before it looks at its deque for the last time. Both run on one Capability, so
-- one of them sees the other.
--
-- (P2) Between Capabilities: a push into a deque whose public part is empty publishes by an atomic
-- operation, and reads the flags after it; a worker raises the flags by an atomic operation, and looks
-- at the public parts after it. One of them sees the other.
--
-- (P3) What is still private when its Capability computes for long without pushing is published by
-- the seat's publisher, a thread of that Capability which a worker wakes when it finds nothing else.
module Capstan.Task.Pool
  ( Pool (..),
    Seat,
    newPool,
    endPool,
    serveCapabilities,
    spawn,
    beforeWait,
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
import Data.Bits ((.&.))
import Data.IORef
import Data.Maybe (isJust)
import qualified Data.Vector as V
import GHC.Clock (getMonotonicTimeNSec)
import GHC.Conc (getNumProcessors)

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
    -- | Capabilities that have workers. Who changes it holds it.
    served :: !(MVar Int),
    -- | Blocks of tasks for which no ring had room.
    spilled :: !(IORef [[Entry]]),
    ended :: !(IORef Bool)
  }

-- | The workers of a pool on one Capability.
data Seat = Seat
  { number :: !Int,
    crew :: !(MVar Crew),
    publisher :: !(MVar ()),
    running :: !(IORef [IORef Current])
  }

-- | How many workers a seat has, how many of them run tasks, and those that sleep.
data Crew = Crew
  { threads :: !Int,
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
    Seat number <$> newMVar (Crew 0 0 []) <*> newEmptyMVar <*> newIORef []
  served <- newMVar 0
  spilled <- newIORef []
  ended <- newIORef False
  -- A small pool's seats are not where its tasks are pushed, so its deques are public throughout.
  when (poolLimit > 0) (addSearching flags 1)
  pure Pool {..}

-- | Gives a seat to each Capability that has none yet, up to the pool's limit.
serveCapabilities :: Pool -> IO ()
serveCapabilities pool = do
  have <- getNumCapabilities
  let want = min (V.length (seats pool)) (if poolLimit pool > 0 then poolLimit pool else have)
  already <- readMVar (served pool)
  when (already < want) . mask_ . modifyMVar_ (served pool) $ \now -> do
    forM_ [now .. want - 1] $ \i -> do
      let seat = seats pool V.! i
      hire pool seat
      void . forkOn i . quietly . forever $ takeMVar (publisher seat) >> publish (deques pool)
    pure (max now want)

-- | Ends the workers of a pool, when they have nothing to do.
endPool :: Pool -> IO ()
endPool pool = do
  writeIORef (ended pool) True
  forM_ (seats pool) $ \seat -> do
    let wakeAll = do
          woken <- wake pool seat
          when woken wakeAll
    wakeAll

-- | What the workers run, for who wants to interrupt some of it.
currents :: Pool -> IO [Current]
currents pool = do
  refs <- forM (V.toList (seats pool)) (readIORef . running)
  mapM readIORef (concat refs)

-- Threads whose pool is unreachable end without a word.
quietly :: IO () -> IO ()
quietly action =
  action `catch` \BlockedIndefinitelyOnMVar -> pure ()

-- | Pushes a task.
spawn :: Pool -> Counters -> Entry -> IO ()
spawn pool counters entry = do
  answer <- push (deques pool) (flags pool) counters entry
  if answer == 1 then pure () else spawnSlowly pool counters entry answer
{-# INLINE spawn #-}

spawnSlowly :: Pool -> Counters -> Entry -> Int -> IO ()
spawnSlowly pool counters entry answer
  | answer /= 0 = do
    when (answer .&. 4 /= 0) (wakeHere pool)
    when (answer .&. 2 /= 0) (wakeOther pool)
  | otherwise = mask_ $ do
    countPushed counters
    spill pool
    again <- push (deques pool) (flags pool) (uncounted pool) entry
    if again == 0
      then atomicModifyIORef' (spilled pool) (\blocks -> ([entry] : blocks, ())) >> wakeOther pool
      else when (again /= 1) (spawnSlowly pool (uncounted pool) entry again)
{-# NOINLINE spawnSlowly #-}

-- | Makes room in the Capability's ring: what is taken goes, the older half of the rest is spilled.
spill :: Pool -> IO ()
spill pool = do
  _ <- publish (deques pool)
  here <- capability
  when (here < capacity (deques pool)) $ do
    let take' :: Int -> IO [Entry]
        take' 0 = pure []
        take' n = steal (deques pool) here >>= maybe (pure []) (\entry -> (entry :) <$> take' (n - 1))
    block <- take' (ringSize `div` 2) >>= filterM (\(Entry cell) -> not <$> isTaken cell)
    unless (null block) $ do
      atomicModifyIORef' (spilled pool) (\blocks -> (block : blocks, ()))
      wakeOther pool

-- | To be called before a thread waits for tasks: all of this Capability's become public, and some
-- worker is awake.
beforeWait :: Pool -> IO ()
beforeWait pool = do
  n <- publish (deques pool)
  blocks <- readIORef (spilled pool)
  when (n > 0 || not (null blocks)) (wakeHere pool)

-- | Wakes a worker of this Capability; or another, if it has none.
wakeHere :: Pool -> IO ()
wakeHere pool = do
  here <- capability
  count <- readMVar (served pool)
  if here < count
    then void (wake pool (seats pool V.! here))
    else wakeOther pool

-- | Wakes a worker of a Capability that idles.
wakeOther :: Pool -> IO ()
wakeOther pool = do
  here <- capability
  count <- readMVar (served pool)
  let go n = when (n <= count) $ do
        woken <- wake pool (seats pool V.! ((here + n) `mod` count))
        unless woken (go (n + 1))
  when (count > 0) (go 1)

-- | Wakes a worker of a seat; the answer is whether one slept.
wake :: Pool -> Seat -> IO Bool
wake pool seat = mask_ $ do
  state <- takeMVar (crew seat)
  case sleepers state of
    [] -> False <$ putMVar (crew seat) state
    sleeper : others -> do
      putCrew pool seat state {sleepers = others}
      True <$ tryPutMVar sleeper ()

-- | Puts the crew back and says who of it sleeps.
putCrew :: Pool -> Seat -> Crew -> IO ()
putCrew pool seat state = do
  let asleep = length (sleepers state)
  setSleeper (deques pool) (number seat) (asleep > 0)
  setIdle (deques pool) (flags pool) (number seat) (asleep > 0 && asleep == threads state)
  putMVar (crew seat) state

-- | Starts a worker.
hire :: Pool -> Seat -> IO ()
hire pool seat = mask_ $ do
  state <- takeMVar (crew seat)
  startWorker pool seat
  putCrew pool seat state {threads = threads state + 1}

startWorker :: Pool -> Seat -> IO ()
startWorker pool seat = do
  current <- newIORef NoTask
  atomicModifyIORef' (running seat) (\all' -> (current : all', ()))
  void . forkOn (number seat) . quietly $ work pool seat current

-- | A worker's life. It is masked but for the tasks themselves.
work :: Pool -> Seat -> IORef Current -> IO ()
work pool seat current = rest
  where
    rest = do
      over <- readIORef (ended pool)
      seen <- visible pool
      if seen
        then do
          free <- politely (10 :: Int)
          state <- readMVar (crew seat)
          idle <- if free then patiently (engaged state) else pure False
          if idle then look else rest
        else if over then leave else sleep pool seat >>= \stays -> if stays then rest else leave

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
      state <- takeMVar (crew seat)
      when (threads state - engaged state <= 1) (startWorker pool seat)
      let extra = if threads state - engaged state <= 1 then 1 else 0
      putCrew pool seat state {engaged = engaged state + 1, threads = threads state + extra}
      serve entry
      after <- takeMVar (crew seat)
      putCrew pool seat after {engaged = engaged after - 1}
      if engaged after == 1 then seek else rest

    serve (Entry entry) = do
      runClaimed (currents pool) current entry
      state <- readMVar (crew seat)
      when (engaged state == 1) (findTask pool >>= maybe (pure ()) serve)

    leave = do
      state <- takeMVar (crew seat)
      atomicModifyIORef' (running seat) (\all' -> (filter (/= current) all', ()))
      putCrew pool seat state {threads = threads state - 1}

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
  state <- takeMVar (crew seat)
  if length (sleepers state) >= 2
    then False <$ putMVar (crew seat) state
    else do
      sleeper <- newEmptyMVar
      putCrew pool seat state {sleepers = sleeper : sleepers state}
      seen <- visible pool
      when seen $ do
        now <- takeMVar (crew seat)
        -- If another has woken this worker meanwhile, the MVar below is full.
        when (sleeper `elem` sleepers now) (void (tryPutMVar sleeper ()))
        putCrew pool seat now {sleepers = filter (/= sleeper) (sleepers now)}
      True <$ takeMVar sleeper

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

-- | Asks Capabilities that have private tasks only to publish them.
askForPrivate :: Pool -> IO ()
askForPrivate pool = do
  count <- readMVar (served pool)
  forM_ [0 .. count - 1] $ \n -> do
    private <- hasPrivate (deques pool) n
    when private (void (tryPutMVar (publisher (seats pool V.! n)) ()))
