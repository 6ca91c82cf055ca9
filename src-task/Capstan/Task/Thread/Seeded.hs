{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Thread.Seeded
-- Description : Runs one task at a time, in an order that follows from a seed
--
-- In a seeded run the threads of tasks are /members/. All members but one stand still and wait for
-- their turn. A thread of its own, the /conductor/, waits until no member runs. Then a generator
-- draws one of the members that could go on, or of the tasks that have not begun. The conductor
-- gives that member the turn, or starts that task. The member goes on until it comes to its next
-- /point/: it starts or awaits a task, checks whether to divide a loop, uses a channel, or ends. So
-- the draws decide the order of tasks and steals, and of all effects between tasks.
--
-- == Why the same seed gives the same order
--
-- (C1) All members, including those that throw interrupts, are on one Capability, and the conductor
-- draws only when no member can run. It looks at all members in one step, during which none of them
-- runs, and at a current list. Otherwise GHC's timer could run a member that was seen to stand
-- still, after another member has woken it and then stands still itself. So the set of members that
-- could go on depends only on earlier draws, if the program itself depends on nothing else.
--
-- (C2) One list has the members in the order in which they came, and another list has the tasks. A
-- member is added by its thread or by the conductor, and a task is added by the member that has the
-- turn. So the lists do not depend on time.
--
-- (C3) A member may wait outside of a point, for example for an 'Control.Concurrent.MVar.MVar'. It
-- loses its turn when the conductor finds that it is blocked. When another member wakes it, the
-- conductor waits until both have come to a point. Until then the two run on one Capability, one
-- after the other, except where GHC's timer switches between them. A member that throws to a member
-- with masked exceptions waits in this way. So it comes to a point, or ends, when it has thrown. A
-- member that waits for a value that another thread evaluates keeps its turn while that thread can
-- run, whether the thread is a member or not. Otherwise time would matter, as it decides how far
-- such a thread has come.
--
-- (C4) A thread outside of the run may wake such a member at any time, even while the conductor
-- looks through the lists. So threads add to the front of a list by an atomic operation, and the
-- conductor keeps entries that it has not seen.
--
-- == When no member can go on
--
-- Then the conductor lets all members go, so that they wait as they would without a seed. Now and
-- then it asks for a collection, so GHC can tell members that they wait for ever.
--
-- A thread outside of seeded runs finds this out by one read of a variable, which is empty while no
-- run is seeded.
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

-- | A seeded run: its Capability, its generator, its members and its tasks.
data Run = Run
  { place :: !Int,
    generator :: !(IORef Word64),
    -- | The members in the order in which they came, with the newest first.
    members :: !(IORef [Member]),
    tasks :: !(IORef [Task])
  }

-- | A thread of a run. The reference to the thread is weak, so GHC can find that it waits for ever.
data Member = Member
  { home :: !Run,
    thread :: !(Weak ThreadId),
    turn :: !(MVar ()),
    -- | A condition for going on, if the member stands at a point.
    ready :: !(IORef (Maybe (IO Bool)))
  }

-- | A task that has not begun: whether it is still to be begun, and the action that begins it.
data Task = Task !(IO Bool) (IO ())

-- | The members of all seeded runs, by the numbers of their threads.
everyone :: IORef (IntMap.IntMap Member)
everyone = unsafePerformIO (newIORef $! IntMap.empty)
{-# NOINLINE everyone #-}

-- | Runs the first action if the caller is a member of a seeded run, and the second action
-- otherwise.
asMember :: (Member -> IO a) -> IO a -> IO a
asMember yes no = do
  known <- readIORef everyone
  if IntMap.null known then no else threadNumber >>= \n -> maybe no yes (IntMap.lookup n known)
{-# INLINE asMember #-}

-- | In a seeded run another task may run here. Outside of seeded runs it does nothing, in a
-- nanosecond. Put it between a program's own reads and writes of a shared reference if their order
-- could matter: without it no other task runs between them.
switchPoint :: IO ()
switchPoint = asMember pass (pure ())

-- | A point without a condition. As it waits for nothing, no exception arrives here if the caller
-- has masked exceptions.
pass :: Member -> IO ()
pass me = do
  masking <- getMaskingState
  (if masking == Unmasked then id else uninterruptibleMask_) (parkUntil me (pure True))

-- | Waits for the turn, which comes when the condition holds, or when no member can go on. May be
-- interrupted as 'takeMVar'; then the exception is also thrown at the member's turn.
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

-- | Counts a task and adds it to the tasks that have not begun. This is a point. A task that was
-- counted is also added, even if an exception arrives meanwhile.
offer :: Member -> IO () -> IO Bool -> IO () -> IO ()
offer me count wanted start = mask_ (count >> add (tasks (home me)) (Task wanted start)) >> pass me

-- | Draws one of two answers.
coin :: Member -> IO Bool
coin me = (== 0) <$> draw (home me) 2

-- | Starts a member that throws to another member. It also takes turns, so its exception arrives
-- while the other member stands still.
forkThrower :: Member -> IO () -> IO ()
forkThrower me = void . enlist (home me)

-- | As 'throwInTurn'. In a seeded run the generator draws the thrower's turn.
throwByTurns :: Exception e => Target -> e -> IO ()
throwByTurns target e = asMember (`parkUntil` isFree target) (pure ()) >> throwInTurn target e

-- | Draws a number below a bound (Steele, Lea and Flood's SplitMix, 2014).
draw :: Run -> Int -> IO Int
draw run bound = do
  state <- (+ 0x9e3779b97f4a7c15) <$> readIORef (generator run)
  writeIORef (generator run) state
  let mix shift factor x = (x `xor` (x `shiftR` shift)) * factor
      z = mix 27 0x94d049bb133111eb (mix 30 0xbf58476d1ce4e5b9 state)
  pure (fromIntegral ((z `xor` (z `shiftR` 31)) `mod` fromIntegral bound))

-- | Starts a member, which waits for its first turn. The action runs with exceptions masked, and
-- must not throw.
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

-- | Adds an entry to a list (C4).
add :: IORef [a] -> a -> IO ()
add list new = atomicModifyIORef' list (\now -> (new : now, ()))

-- | Removes the entries of a list that should not stay. Returns the remaining entries.
prune :: (a -> IO Bool) -> IORef [a] -> IO [a]
prune stays list = do
  seen <- readIORef list
  left <- filterM stays seen
  atomicModifyIORef' list (\now -> (take (length now - length seen) now ++ left, left))

-- | Gives turns until no member is left. The argument counts how many times in a row no member
-- could go on.
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
  -- A member that came meanwhile was added by another member, or it runs.
  now <- readIORef (members run)
  when (moving || length now /= length everybody) (yield >> settle run)

foreign import prim "cst_task_movingzh"
  moving# :: SmallArray# ThreadId -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Whether any of the threads can run, at the same moment.
anyMoving :: SmallArray ThreadId -> IO Bool
anyMoving (SmallArray threads) = IO $ \s -> case moving# threads s of
  (# s1, answer #) -> (# s1, isTrue# answer #)

statusOf :: Weak ThreadId -> IO ThreadStatus
statusOf name = deRefWeak name >>= maybe (pure ThreadFinished) threadStatus

over :: ThreadStatus -> Bool
over status = status == ThreadFinished || status == ThreadDied

-- | Runs an action and all tasks that it starts, one at a time, in an order that follows from the
-- seed. The seed decides which task runs next, whether a thread that awaits a task runs it itself,
-- where loops are divided, and which thread comes first at a channel. The same seed gives the same
-- order, and other seeds give other orders. So a test can run with many seeds, and a seed for which
-- it fails can be run again.
--
-- > found <- filterM (\seed -> (/= 2) <$> seeded seed twoDeposits) [0 .. 99]
--
-- The run switches between tasks only where a task starts or awaits another task, uses a channel
-- ("Capstan.Chan"), ends, or calls 'switchPoint'. The seed alone decides the order if the action
-- depends on nothing else, such as time ('Capstan.Task.runWithin'), threads of its own ('forkIO')
-- or foreign calls. A task that waits for an 'MVar' or in STM goes on when it can, without a draw.
-- Until their next points, GHC's timer may interleave this task and the task that woke it in any
-- order.
--
-- The whole run uses one Capability, and costs some ten microseconds for each point. The action
-- runs in a thread of its own. The call throws the exception of the action again, and passes
-- exceptions to the caller on to the action. Runs do not nest: a run within a run is part of the
-- outer run.
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
    -- The thrower holds the variable until the exception has arrived, so no exception is lost when
    -- the action ends.
    throwToFirst listens first e = withMVar listens $ \open ->
      if open then deRefWeak (thread first) >>= maybe (pure False) (\name -> True <$ throwTo name e) else pure False
    close listens outcome = try (swapMVar listens False) >>= either (close listens . Left) (const (pure outcome))

-- | Runs a wait, and passes on exceptions that are thrown to the caller meanwhile, each by a
-- thread. Returns these exceptions, each with a variable in which its thread will write whether it
-- has arrived.
passingOn :: (SomeException -> IO Bool) -> IO () -> IO [(SomeException, MVar Bool)]
passingOn passOn wait = go []
  where
    go sent =
      (sent <$ wait) `catch` \e -> do
        arrived <- newEmptyMVar
        _ <- forkIO (passOn e >>= putMVar arrived)
        go (sent ++ [(e, arrived)])
