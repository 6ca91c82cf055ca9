{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Join.Fork
-- Description : Two branches that join: the cheapest task
--
-- The right branch is pushed on the deque, the left one runs, and most often the right one is still
-- the newest entry then: it is popped, which needs no atomic operation while it is private, and runs as
-- a plain call. Only if a worker took it is there a result to wait for. This is lazy task creation
-- (Mohr, Kranz and Halstead, 1991): the frame of the caller is the scope.
--
-- == Failure
--
-- If the left branch throws, the right one is interrupted and waited for. If the right one throws, on
-- its worker, the worker interrupts the owner /before/ it ends the cell. The owner does not return
-- before the cell has ended; so the interrupt reaches it in the left branch or while it waits, and never
-- later. Each of the two may be throwing to the other at the same time: the worker can be interrupted in
-- its throw, and lets it be then, because the owner knows already.
--
-- == Values that are interrupted
--
-- When an exception from outside ends the evaluation of a value, GHC keeps how far that has come, and who needs the value later goes on
-- from there. Not so where the exception is caught on its way and thrown again: then the value is that exception for good, and a
-- @timeout@ would reach those who never set one. Therefore, in 'Control.Monad.ST.ST' and in loops, each branch is a value
-- too, of which the exception leaves what it was; and what is thrown on is thrown as from outside ('resuming'), so that who comes back
-- evaluates both branches again, from where they are.
--
-- GHC lets two threads begin the same value, and when it sees that it ends one of them, without an exception, wherever that is: also where it
-- is masked, and remains so. Who does what must not be left half done, and may be evaluating, says so before ('noDuplicate').
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

-- | Both results, computed in parallel: the right branch may run on another Capability. Each is evaluated to weak head normal form
-- where it was computed. If one branch throws, the other is interrupted, and when it has ended the exception is thrown again. Both
-- have exceptions masked as the caller has. Costs about as much as ten function calls when nobody takes the right branch.
--
-- > (left, right) <- both (length <$> readFile a) (length <$> readFile b)
both :: IO a -> IO b -> IO (a, b)
both = bothOn defaultPool
{-# INLINE both #-}

-- | As 'both', with results that are evaluated completely.
bothNF :: (NFData a, NFData b) => IO a -> IO b -> IO (a, b)
bothNF left right = both (force <$> left) (force <$> right)
{-# INLINE bothNF #-}

-- | As 'both', in 'Control.Monad.ST.ST' too. Unsafe: branches that write what the other reads or writes make the value of a pure function
-- depend on the schedule.
unsafeBoth :: PrimBase m => m a -> m b -> m (a, b)
unsafeBoth left right = unsafeIOToPrim (bothResuming defaultPool (unsafePrimToIO left) (unsafePrimToIO right))
{-# INLINE [1] unsafeBoth #-}

-- What is done in IO is not begun again.
{-# RULES "unsafeBoth/IO" forall (left :: IO a) (right :: IO b). unsafeBoth left right = bothOn defaultPool left right #-}

-- | As 'bothOn', where the branches are of a value, perhaps: who needs it after an interrupt goes on with them.
bothResuming :: Pool -> IO a -> IO b -> IO (a, b)
bothResuming pool = resumable (bothOn pool)
{-# NOINLINE bothResuming #-}

-- | As 'bothResuming', and says when the branches begin or are gone on with, and when one of them has failed or was interrupted: at once, on
-- the Capability where that was, and not when the other has ended too. The handlers are outside the values of the branches, which are
-- resumed as they would be without.
bothTelling :: IO () -> IO () -> Pool -> IO a -> IO b -> IO (a, b)
bothTelling begins fails pool = resumable $ \left right -> begins >> bothOn pool (left `onException` fails) (right `onException` fails)
{-# NOINLINE bothTelling #-}

-- | Makes values of two branches, and joins their evaluations again after each interrupt.
resumable :: (IO a -> IO b -> IO (a, b)) -> IO a -> IO b -> IO (a, b)
resumable join left right = do
  noDuplicate
  a <- unsafeDupableInterleaveIO left
  b <- unsafeDupableInterleaveIO right
  resuming (join (evaluate a) (evaluate b))
{-# INLINE resumable #-}

-- | Evaluates a value to weak head normal form, for those who need it later: what it throws they get. An interrupt leaves it as far as
-- it has come.
settle :: a -> IO ()
settle x = resuming (void (try' (evaluate x)))
  where
    try' action =
      (Right <$> action) `catch` \e -> case fromException e of
        Just (SomeAsyncException _) -> throwIO e
        Nothing -> pure (Left (e :: SomeException))
{-# NOINLINE settle #-}

-- | Runs an action that can be run again. What is thrown to its thread from outside is thrown on in the same way.
resuming :: IO a -> IO a
resuming action = action `catch` again
  where
    again e
      | isOutside e = do
        throwOn e
        -- Here is who needs the value now.
        resuming action
      | otherwise = throwIO e

-- | Throws to the caller as from outside.
throwOn :: SomeException -> IO ()
throwOn e = myThreadId >>= (`throwTo` e)

-- | Whether that was thrown from outside.
isOutside :: SomeException -> Bool
isOutside e = case fromException e of
  Just (SomeAsyncException _) -> True
  Nothing -> isConsequence e

-- | Whether an action ends well. What is thrown to its thread from outside is thrown on in the same way, so that who needs later what
-- the caller computes goes on there.
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
  cell <- newCell (Branch masking (right >>= evaluate))
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

-- | The right branch was not popped: claims it, or waits for the worker that runs it.
joinBranch :: Pool -> Cell b -> a -> IO (Outcome a b)
joinBranch pool !cell a = do
  switchPoint
  status <- claimOwn cell
  case status of
    Branch {} -> pure (RightIsMine a)
    _ -> expect pool cell >>= either throwIO (pure . Joined a)
{-# NOINLINE joinBranch #-}

-- | The owner has an exception: the right branch must end before it goes on.
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
-- Costs no more than a spark, and unlike a spark it is never dropped and, but for a few nanoseconds in
-- which owner and worker can miss each other, never evaluated twice. What is evaluated has no effects,
-- so nothing is interrupted: if one value throws, the other may go on being evaluated for nobody.
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

-- | The right value was not popped: claims it, or waits for the worker that evaluates it. Strict, so that the cell is not boxed
-- for a call that is seldom made.
joinSpark :: Cell b -> IO ()
joinSpark !cell = do
  noDuplicate
  switchPoint
  status <- claim cell
  case status of
    Spark _ -> pure ()
    _ -> resuming (void (expect defaultPool cell))
{-# NOINLINE joinSpark #-}
