{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Join.Fork
-- Description : Two branches that join: the cheapest task
--
-- The owner pushes the right branch on its deque and runs the left branch. Afterwards the right
-- branch is mostly still the newest entry. Then the owner pops it, which needs no atomic operation
-- while the entry is private, and runs it as a plain call. The owner waits for a result only if a
-- worker has taken the right branch. This is lazy task creation (Mohr, Kranz and Halstead, 1991):
-- the frame of the caller is the scope.
--
-- == Failure
--
-- If the left branch throws, the owner interrupts the right branch and waits for it. If the right
-- branch throws on a worker, the worker interrupts the owner /before/ it ends the cell. The owner
-- does not return before the cell has ended. So the interrupt reaches the owner in the left branch
-- or while it waits, and never later. Owner and worker may throw to each other at the same time.
-- The worker can be interrupted in its throw, and gives the throw up then, because the owner knows
-- of a failure already.
--
-- == Values that are interrupted
--
-- When an asynchronous exception ends the evaluation of a value, GHC keeps the state of the
-- evaluation, and the next thread that needs the value resumes it. But if a handler catches the
-- exception and throws it again, the value is that exception for good. A @timeout@ would then reach
-- threads that never set one. Therefore, in 'Control.Monad.ST.ST' and in loops, each branch is a
-- value too, whose evaluation can be resumed after an exception. And a handler throws an exception
-- on as an asynchronous exception ('resuming'). So the next thread that needs the value resumes
-- both branches where they stopped.
--
-- GHC may let two threads begin to evaluate the same value. When it notices this, it abandons one
-- of the evaluations without an exception, at any point, even while the thread has masked
-- exceptions; and the masking state stays. Code that must not be abandoned midway calls
-- 'noDuplicate' first, since it may be running inside a value's evaluation.
module Capstan.Task.Join.Fork
  ( both,
    bothNF,
    bothOn,
    unsafeBoth,
    bothResuming,
    bothTelling,
    bothPure,
    settle,
    resuming,
    attempt,
  )
where

import Capstan.Task.Join.Scope (defaultPool)
import Capstan.Task.Pool
import Capstan.Task.Pool.Wait (expect)
import Capstan.Task.Thread.Seeded (switchPoint)
import Capstan.Task.Work.Cell
import Capstan.Task.Work.Deque (pop)
import Capstan.Task.Work.Group (contextAt, isConsequence, placeHere, stopped)
import Control.Concurrent (myThreadId)
import Control.DeepSeq (NFData, force)
import Control.Exception
import Control.Monad (void)
import Control.Monad.Primitive (PrimBase, unsafeIOToPrim, unsafePrimToIO)
import Data.Maybe (fromMaybe)
import GHC.Exts (runRW#)
import GHC.IO (IO (..), noDuplicate, unsafeDupableInterleaveIO)

-- | Runs two actions in parallel, and returns both results: the right branch may run on another
-- Capability. Each branch evaluates its result to weak head normal form. If a branch throws, the
-- other branch is interrupted, and the exception is thrown again when it has ended. Both branches
-- have the masking state of the caller. Costs about as much as ten function calls if no worker
-- takes the right branch.
--
-- > (left, right) <- both (length <$> readFile a) (length <$> readFile b)
both :: IO a -> IO b -> IO (a, b)
both = bothOn defaultPool
{-# INLINE both #-}

-- | As 'both', with results that are evaluated completely.
bothNF :: (NFData a, NFData b) => IO a -> IO b -> IO (a, b)
bothNF left right = both (force <$> left) (force <$> right)
{-# INLINE bothNF #-}

-- | As 'both', in 'Control.Monad.ST.ST' too. Unsafe: if a branch writes memory that the other
-- branch reads or writes, the value of a pure function depends on the schedule.
unsafeBoth :: PrimBase m => m a -> m b -> m (a, b)
unsafeBoth left right = unsafeIOToPrim (bothResuming defaultPool (unsafePrimToIO left) (unsafePrimToIO right))
{-# INLINE [1] unsafeBoth #-}

-- Branches in IO are not resumed.
{-# RULES "unsafeBoth/IO" forall (left :: IO a) (right :: IO b). unsafeBoth left right = bothOn defaultPool left right #-}

-- | As 'bothOn', for branches that may belong to the evaluation of a value. After an interrupt, the
-- next thread that needs the value resumes both branches.
bothResuming :: Pool -> IO a -> IO b -> IO (a, b)
bothResuming pool = resumable (bothOn pool)
{-# NOINLINE bothResuming #-}

-- | As 'bothResuming', with two handlers. The first runs when the branches begin or are resumed.
-- The second runs when a branch has failed or was interrupted: at once, on the Capability of that
-- branch, and not only when the other branch has ended. The handlers are outside the values of the
-- branches, so the branches are resumed as without handlers.
bothTelling :: IO () -> IO () -> Pool -> IO a -> IO b -> IO (a, b)
bothTelling begins fails pool = resumable $ \left right -> begins >> bothOn pool (left `onException` fails) (right `onException` fails)
{-# NOINLINE bothTelling #-}

-- | Makes a value of each branch, and joins the evaluation of both values again after each
-- interrupt.
resumable :: (IO a -> IO b -> IO (a, b)) -> IO a -> IO b -> IO (a, b)
resumable join left right = do
  noDuplicate
  a <- unsafeDupableInterleaveIO left
  b <- unsafeDupableInterleaveIO right
  resuming (join (evaluate a) (evaluate b))
{-# INLINE resumable #-}

-- | Evaluates a value to weak head normal form, for threads that need it later. If the value
-- throws, those threads get the exception. An interrupt ends the evaluation so that it can be
-- resumed.
settle :: a -> IO ()
settle x = resuming (void (try' (evaluate x)))
  where
    try' action =
      (Right <$> action) `catch` \e -> case fromException e of
        Just (SomeAsyncException _) -> throwIO e
        Nothing -> pure (Left (e :: SomeException))
{-# NOINLINE settle #-}

-- | Runs an action that can be run again. An asynchronous exception to its thread is thrown on as
-- an asynchronous exception.
resuming :: IO a -> IO a
resuming action = action `catch` again
  where
    again e
      | isOutside e = do
        throwOn e
        -- The next thread that needs the value continues here.
        resuming action
      | otherwise = throwIO e

-- | Throws an asynchronous exception to the calling thread.
throwOn :: SomeException -> IO ()
throwOn e = myThreadId >>= (`throwTo` e)

-- | Whether the exception was thrown by another thread.
isOutside :: SomeException -> Bool
isOutside e = case fromException e of
  Just (SomeAsyncException _) -> True
  Nothing -> isConsequence e

-- | Whether an action ends without an exception. An asynchronous exception to its thread is thrown
-- on as an asynchronous exception. So the next thread that needs the caller's value continues after
-- this call.
attempt :: IO () -> IO Bool
attempt action = try action >>= either thrown (\() -> pure True)
  where
    thrown e = False <$ if isOutside e then throwOn e else pure ()
{-# NOINLINE attempt #-}

data Outcome a b
  = RightIsMine a
  | Joined a b

-- | As 'both', on the workers of a pool.
--
-- > withPool "background" 1 $ \pool -> bothOn pool (compress a) (compress b)
bothOn :: Pool -> IO a -> IO b -> IO (a, b)
bothOn pool left right = do
  masking <- getMaskingState
  cell <- newCell (Branch masking right)
  outcome <- branches cell `catch` abandon pool cell
  case outcome of
    RightIsMine a -> do
      !b <- right
      pure (a, b)
    Joined a b -> pure (a, b)
  where
    branches cell = do
      spawn pool (uncounted pool) cell
      !a <- left
      mine <- pop (deques pool) cell
      if mine then pure (RightIsMine a) else joinBranch pool cell a
{-# INLINE bothOn #-}

-- | The owner could not pop the right branch: it claims the branch, or waits for the worker that
-- runs it.
joinBranch :: Pool -> Cell b -> a -> IO (Outcome a b)
joinBranch pool !cell a = do
  switchPoint
  status <- claimOwn cell
  case status of
    Branch {} -> pure (RightIsMine a)
    _ -> expect pool cell >>= either throwIO (pure . Joined a)
{-# NOINLINE joinBranch #-}

-- | The owner has an exception: the right branch must end before the owner throws it on.
abandon :: Pool -> Cell b -> SomeException -> IO a
abandon pool !cell e = do
  _ <- pop (deques pool) cell
  status <- claimOwn cell
  case status of
    Branch {} -> throwIO e
    _ | isOwn status -> throwIO e
    _ -> do
      result <- uninterruptibleMask_ (interrupt cell >> waitSurely cell)
      case result of
        Left theirs | isInterrupt cell e -> do
          cause <- placeHere >>= contextAt >>= stopped
          throwIO (fromMaybe theirs cause)
        Left theirs | isConsequence e && not (isInterrupt cell theirs) -> throwIO theirs
        _ -> throwIO e
{-# NOINLINE abandon #-}

-- | Both values, evaluated to weak head normal form in parallel, for pure code:
--
-- > fib n = case bothPure (fib (n - 1)) (fib (n - 2)) of (a, b) -> a + b
--
-- Costs no more than a spark. Unlike a spark, a branch is never dropped. It is never evaluated
-- twice, except if owner and worker miss each other within a few nanoseconds. The evaluation has no
-- effects, so nothing is interrupted: if a value throws, the evaluation of the other may continue
-- although no code needs it.
bothPure :: a -> b -> (a, b)
bothPure left right = case runRW# pair of (# _, result #) -> result
  where
    pool = defaultPool
    IO pair = do
      cell <- newCell (Spark right)
      spawnValue pool cell
      !a <- pure left
      mine <- pop (deques pool) cell
      if mine then pure () else joinSpark cell
      !b <- pure right
      pure (a, b)
{-# INLINE bothPure #-}

-- | The owner could not pop the right value: it claims the value, or waits for the worker that
-- evaluates it. The argument is strict, so the caller does not box the cell for this rare call.
joinSpark :: Cell b -> IO ()
joinSpark !cell = do
  noDuplicate
  switchPoint
  status <- claim cell
  case status of
    Spark _ -> pure ()
    _ -> resuming (void (expect defaultPool cell))
{-# NOINLINE joinSpark #-}
