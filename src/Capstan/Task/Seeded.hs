-- |
-- Module      : Capstan.Task.Seeded
-- Description : One task at a time, in an order that follows from a seed
--
-- In a seeded run the threads of tasks are /members/. All but one stand still, each in a wait for its turn, and so does each
-- task that nobody has begun. A thread of its own, the /conductor/, waits until no member runs, draws one of those that could
-- go on from a generator, and gives it the turn, or starts it. The member goes on until it comes to its next /point/: where it
-- starts a task, awaits one, looks whether a loop is to be divided, uses a channel, or ends. So the order of tasks, of steals
-- and of what they do with each other is the order of the draws.
--
-- == Why the same seed gives the same order
--
-- (C1) All members, those that throw interrupts too, are on one Capability, and the conductor draws only when none of
-- them can run. What could go on then depends only on what was drawn before, if the program itself depends on nothing else.
--
-- (C2) Members stand in one list in the order in which they came, tasks in another. A member is added by its thread or by the
-- conductor, a task by the member that has the turn. So the lists do not depend on time.
--
-- (C3) A member that waits for something else than a point, an 'Control.Concurrent.MVar.MVar' say, loses its turn when the
-- conductor finds that it is blocked; when it goes on, by what another member does, the conductor waits until it has come to a
-- point too. The two run side by side until then, on one Capability: one after the other, but where GHC's timer comes between.
-- What throws to a member that has masked exceptions waits so, and therefore comes to a point when it has thrown.
--
-- == When nobody can go on
--
-- Then all are let go to their waits, as they would wait without a seed, and the conductor asks for a collection now and then:
-- who waits for ever is told so.
--
-- Who is no member finds that out by one read of a variable, which is empty where nothing is seeded.
module Capstan.Task.Seeded
  ( seeded,
    Member,
    asMember,
    switchPoint,
    parkUntil,
    offer,
    coin,
    forkThrower,
    throwByTurns,
  )
where

import Capstan.Task.Group (threadNumber)
import Capstan.Task.Target (Target, isFree, throwInTurn)
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Bits (shiftR, xor)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Data.Maybe (fromMaybe, isJust, isNothing)
import Data.Word (Word64)
import GHC.Conc (ThreadStatus (..), threadStatus)
import GHC.IO (unsafeUnmask)
import System.IO.Unsafe (unsafePerformIO)
import System.Mem (performMajorGC)
import System.Mem.Weak (Weak, deRefWeak)

-- | A run: where it is, and what there is in it.
data Run = Run
  { place :: !Int,
    generator :: !(IORef Word64),
    -- | In the order in which they came, the newest first.
    members :: !(IORef [Member]),
    tasks :: !(IORef [Task])
  }

-- | A thread of a run. Its name is weak, for else it would never be found to wait for ever.
data Member = Member
  { home :: !Run,
    thread :: !(Weak ThreadId),
    turn :: !(MVar ()),
    -- | Whether it could go on, if it stands at a point.
    ready :: !(IORef (Maybe (IO Bool)))
  }

-- | What nobody has begun: whether anybody is to begin it, and how.
data Task = Task !(IO Bool) (IO ())

-- | Who is in a seeded run, by the numbers of their threads.
everyone :: IORef (IntMap.IntMap Member)
everyone = unsafePerformIO (newIORef IntMap.empty)
{-# NOINLINE everyone #-}

-- | Does the one for a thread of a seeded run, the other for any other.
asMember :: (Member -> IO a) -> IO a -> IO a
asMember yes no = do
  known <- readIORef everyone
  if IntMap.null known then no else threadNumber >>= \n -> maybe no yes (IntMap.lookup n known)
{-# INLINE asMember #-}

-- | In a seeded run another task may go on here. Elsewhere it does nothing, in a nanosecond. Put it between a program's own
-- reads and writes of a shared reference, whose order could matter: without it no task comes between them.
switchPoint :: IO ()
switchPoint = asMember pass (pure ())

-- | A point at which nothing is waited for. So it lets no exception in where the caller has masked them.
pass :: Member -> IO ()
pass me = do
  masking <- getMaskingState
  (if masking == Unmasked then id else uninterruptibleMask_) (parkUntil me (pure True))

-- | Waits for the turn, which comes when the condition holds, or when nobody can go on. May be interrupted as 'takeMVar'; the
-- exception then is thrown in turn too.
parkUntil :: Member -> IO Bool -> IO ()
parkUntil me condition = mask_ $ do
  writeIORef (ready me) (Just condition)
  takeMVar (turn me) `catch` \e -> do
    given <- tryTakeMVar (turn me)
    when (isNothing given) . uninterruptibleMask_ $ do
      writeIORef (ready me) (Just (pure True))
      takeMVar (turn me)
    writeIORef (ready me) Nothing
    throwIO (e :: SomeException)

-- | Adds a task that nobody has begun, and is a point.
offer :: Member -> IO Bool -> IO () -> IO ()
offer me wanted start = modifyIORef' (tasks (home me)) (Task wanted start :) >> pass me

-- | Draws one of two.
coin :: Member -> IO Bool
coin me = (== 0) <$> draw (home me) 2

-- | Starts a member that throws to another: by turns too, so that what it throws comes while that one stands still.
forkThrower :: Member -> IO () -> IO ()
forkThrower me = void . enlist (home me)

-- | As 'throwInTurn'. In a seeded run the turn is drawn.
throwByTurns :: Exception e => Target -> e -> IO ()
throwByTurns target e = asMember (`parkUntil` isFree target) (pure ()) >> throwInTurn target e

-- | A number below a bound (Steele, Lea and Flood's SplitMix, 2014).
draw :: Run -> Int -> IO Int
draw run bound = do
  state <- (+ 0x9e3779b97f4a7c15) <$> readIORef (generator run)
  writeIORef (generator run) state
  let mix shift factor x = (x `xor` (x `shiftR` shift)) * factor
      z = mix 27 0x94d049bb133111eb (mix 30 0xbf58476d1ce4e5b9 state)
  pure (fromIntegral ((z `xor` (z `shiftR` 31)) `mod` fromIntegral bound))

-- | Starts a member, which waits for its first turn. The action has exceptions masked, and does not throw.
enlist :: Run -> IO () -> IO Member
enlist run action = mask_ $ do
  ticket <- newEmptyMVar
  condition <- newIORef (Just (pure True))
  started <- newEmptyMVar
  name <- forkOn (place run) $ do
    me <- takeMVar started
    number <- threadNumber
    atomicModifyIORef' everyone (\known -> (IntMap.insert number me known, ()))
    uninterruptibleMask_ (takeMVar ticket)
    unsafeUnmask (mask_ action)
    atomicModifyIORef' everyone (\known -> (IntMap.delete number known, ()))
  weak <- mkWeakThreadId name
  let me = Member run weak ticket condition
  modifyIORef' (members run) (me :)
  me <$ putMVar started me

-- | Gives one turn after the other until no member is left. The argument is how often nobody could go on, one time after
-- another.
conduct :: Run -> Int -> IO ()
conduct run stuck = do
  settle run
  living <- readIORef (members run) >>= filterM (fmap (not . over) . statusOf . thread)
  writeIORef (members run) living
  open <- readIORef (tasks run) >>= filterM (\(Task wanted _) -> wanted)
  able <- filterM (readIORef . ready >=> fromMaybe (pure False)) living
  writeIORef (tasks run) open
  case length able + length open of
    0
      | null living -> pure ()
      | otherwise -> do
        standing <- filterM (fmap isJust . readIORef . ready) living
        mapM_ give standing
        when (stuck `mod` 100 == 99) performMajorGC
        threadDelay 100
        conduct run (stuck + 1)
    count -> do
      n <- draw run count
      if n < length able then give (able !! n) else begin (n - length able) open
      conduct run 0
  where
    give member = writeIORef (ready member) Nothing >> void (tryPutMVar (turn member) ())
    begin n open = do
      let (before, rest) = splitAt n open
      writeIORef (tasks run) (before ++ drop 1 rest)
      forM_ (take 1 rest) $ \(Task _ start) -> enlist run start >>= give

-- | Waits until no member can run.
settle :: Run -> IO ()
settle run = do
  everybody <- readIORef (members run)
  moving <- or <$> mapM (fmap (== ThreadRunning) . statusOf . thread) everybody
  when moving (yield >> settle run)

statusOf :: Weak ThreadId -> IO ThreadStatus
statusOf name = deRefWeak name >>= maybe (pure ThreadFinished) threadStatus

over :: ThreadStatus -> Bool
over status = status == ThreadFinished || status == ThreadDied

-- | Runs an action with all tasks that it starts, one at a time, in an order that follows from the seed: which task goes on or
-- is begun next, whether who awaits a task runs it, where loops are divided, and who comes first at a channel. The same seed
-- gives the same order; other seeds give others. So a test that fails for some orders is run with many seeds, and what fails
-- is run again with its own.
--
-- > found <- filterM (\seed -> (/= 2) <$> seeded seed twoDeposits) [0 .. 99]
--
-- The order changes only where a task starts or awaits another, uses a channel ("Capstan.Chan"), ends, or calls 'switchPoint'. It
-- follows from the seed alone as far as the action does: not where it depends on time ('Capstan.Task.runWithin'), on threads of its own
-- ('forkIO'), or on foreign calls. What waits in an 'MVar' or in STM goes on when it can, without being drawn.
--
-- All runs on one Capability, at some ten microseconds a point. The action runs in a thread of its own; what it throws is
-- thrown again here, and an exception to the caller is thrown to it. Runs do not nest: a run in a run is part of the outer one.
seeded :: Int -> IO a -> IO a
seeded seed action = asMember (const action) $
  mask $ \restore -> do
    (here, _) <- threadCapability =<< myThreadId
    run <- Run here <$> newIORef (fromIntegral seed) <*> newIORef [] <*> newIORef []
    result <- newEmptyMVar
    first <- enlist run (try (restore action) >>= putMVar result)
    done <- newEmptyMVar
    _ <- forkOn here (conduct run 0 >> putMVar done ())
    let wait = takeMVar done `catch` \e -> forkIO (throwToFirst e) >> wait
        throwToFirst e = deRefWeak (thread first) >>= mapM_ (`throwTo` (e :: SomeException))
    wait
    takeMVar result >>= either (throwIO :: SomeException -> IO a) pure
