{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Thread.Seeded
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
-- them can run. It looks at all of them in one step, between whose parts none of them is run, and at no list that is older: else GHC's
-- timer could let one run that had been seen to stand still, woken by one that then does. What could go on then depends only on what was
-- drawn before, if the program itself depends on nothing else.
--
-- (C2) Members stand in one list in the order in which they came, tasks in another. A member is added by its thread or by the
-- conductor, a task by the member that has the turn. So the lists do not depend on time.
--
-- (C3) A member that waits for something else than a point, an 'Control.Concurrent.MVar.MVar' say, loses its turn when the
-- conductor finds that it is blocked; when it goes on, by what another member does, the conductor waits until it has come to a
-- point too. The two run side by side until then, on one Capability: one after the other, but where GHC's timer comes between.
-- What throws to a member that has masked exceptions waits so, and therefore comes to a point when it has thrown, or ends.
-- A member that waits for a value which another thread evaluates has its turn for as long as that thread can run, whether it is a
-- member or not: how far such a thread is depends on time.
--
-- (C4) What is outside of the run may wake such a member at any time, also while the conductor looks through the lists. So who
-- adds to a list does so by an atomic operation, in front, and the conductor keeps what it has not seen.
--
-- == When nobody can go on
--
-- Then all are let go to their waits, as they would wait without a seed, and the conductor asks for a collection now and then:
-- who waits for ever is told so.
--
-- Who is no member finds that out by one read of a variable, which is empty where nothing is seeded.
module Capstan.Task.Thread.Seeded
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

import Capstan.Internal.Swap (modifyEvaluated)
import Capstan.Task.Thread.Target (Target, isFree, masked, threadNumber, throwInTurn)
import Control.Concurrent hiding (ThreadId)
import Control.Exception
import Control.Monad
import Data.Bits (shiftR, xor)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Data.Maybe (fromMaybe, isJust, isNothing)
import Data.Primitive.SmallArray (SmallArray (..), smallArrayFromList)
import Data.Word (Word64)
import GHC.Conc (ThreadId (..), ThreadStatus (..), threadStatus)
import GHC.Exts (Int#, RealWorld, SmallArray#, State#, isTrue#)
import GHC.IO (IO (..))
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
everyone = unsafePerformIO (newIORef $! IntMap.empty)
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

-- | Counts and adds a task that nobody has begun, and is a point. What is counted is added, whatever is thrown meanwhile.
offer :: Member -> IO () -> IO Bool -> IO () -> IO ()
offer me count wanted start = mask_ (count >> add (tasks (home me)) (Task wanted start)) >> pass me

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
    modifyEvaluated everyone (IntMap.insert number me)
    uninterruptibleMask_ (takeMVar ticket)
    masked action `finally` modifyEvaluated everyone (IntMap.delete number)
  weak <- mkWeakThreadId name
  let me = Member run weak ticket condition
  add (members run) me
  me <$ putMVar started me

-- | Adds to a list (C4).
add :: IORef [a] -> a -> IO ()
add list new = atomicModifyIORef' list (\now -> (new : now, ()))

-- | Takes out of a list what is to stay there no more; the answer is the rest.
prune :: (a -> IO Bool) -> IORef [a] -> IO [a]
prune stays list = do
  seen <- readIORef list
  left <- filterM stays seen
  atomicModifyIORef' list (\now -> (take (length now - length seen) now ++ left, left))

-- | Gives one turn after the other until no member is left. The argument is how often nobody could go on, one time after
-- another.
conduct :: Run -> Int -> IO ()
conduct run stuck = do
  settle run
  living <- prune (fmap (not . over) . statusOf . thread) (members run)
  open <- prune (\(Task wanted _) -> wanted) (tasks run)
  able <- filterM (readIORef . ready >=> fromMaybe (pure False)) living
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
      let Task _ start = open !! n
          without now = let (before, rest) = splitAt (length now - length open + n) now in before ++ drop 1 rest
      atomicModifyIORef' (tasks run) (\now -> (without now, ()))
      enlist run start >>= give

-- | Waits until no member can run.
settle :: Run -> IO ()
settle run = do
  everybody <- readIORef (members run)
  names <- mapM (deRefWeak . thread) everybody
  moving <- anyMoving (smallArrayFromList [name | Just name@(ThreadId _) <- names])
  -- Who is new since then was added by one of them, or runs.
  now <- readIORef (members run)
  when (moving || length now /= length everybody) (yield >> settle run)

foreign import prim "cst_task_movingzh"
  moving# :: SmallArray# ThreadId -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Whether any of these threads can run, at one moment.
anyMoving :: SmallArray ThreadId -> IO Bool
anyMoving (SmallArray threads) = IO $ \s -> case moving# threads s of
  (# s1, answer #) -> (# s1, isTrue# answer #)

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
-- ('forkIO'), or on foreign calls. What waits in an 'MVar' or in STM goes on when it can, without being drawn: who wakes it and it do
-- what they do until their next points in an order that GHC's timer may change.
--
-- All runs on one Capability, at some ten microseconds a point. The action runs in a thread of its own; what it throws is
-- thrown again here, and an exception to the caller is thrown to it. Runs do not nest: a run in a run is part of the outer one.
seeded :: Int -> IO a -> IO a
seeded seed action = asMember (const action) $
  mask $ \restore -> do
    (here, _) <- threadCapability =<< myThreadId
    run <- Run here <$> newIORef (fromIntegral seed) <*> newIORef [] <*> newIORef []
    result <- newEmptyMVar
    listens <- newMVar True
    first <- enlist run (try (restore action) >>= close listens >>= putMVar result)
    done <- newEmptyMVar
    _ <- forkOn here (conduct run 0 >> putMVar done ())
    sent <- passingOn (throwToFirst listens first) (takeMVar done)
    missed <- filterM (fmap not . uninterruptibleMask_ . readMVar . snd) sent
    outcome <- takeMVar result
    case missed of
      (e, _) : _ -> throwIO e
      [] -> either (throwIO :: SomeException -> IO a) pure outcome
  where
    -- Who throws has the variable until the exception has arrived, so none is lost when the action ends.
    throwToFirst listens first e = withMVar listens $ \open ->
      if open then deRefWeak (thread first) >>= maybe (pure False) (\name -> True <$ throwTo name e) else pure False
    close listens outcome = try (swapMVar listens False) >>= either (close listens . Left) (const (pure outcome))

-- | Waits. What is thrown to the caller meanwhile is passed on by threads; the answer is what was thrown, and variables in which those
-- threads will say whether it has arrived.
passingOn :: (SomeException -> IO Bool) -> IO () -> IO [(SomeException, MVar Bool)]
passingOn passOn wait = go []
  where
    go sent =
      (sent <$ wait) `catch` \e -> do
        arrived <- newEmptyMVar
        _ <- forkIO (passOn e >>= putMVar arrived)
        go (sent ++ [(e, arrived)])
