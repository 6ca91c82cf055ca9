{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Fork
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
module Capstan.Task.Fork
  ( both,
    bothOn,
    bothPure,
  )
where

import Capstan.Task.Cell
import Capstan.Task.Deque (pop)
import Capstan.Task.Group (contextAt, isConsequence, placeHere, stopped)
import Capstan.Task.Pool
import Capstan.Task.Scope (defaultPool)
import Capstan.Task.Seeded (switchPoint)
import Control.Exception
import Control.Monad (void)
import Control.Monad.Primitive (PrimBase, unsafeIOToPrim, unsafePrimToIO)
import Data.Maybe (fromMaybe)
import GHC.Exts (runRW#)
import GHC.IO (IO (..))

-- | Both results, computed in parallel: the right branch may run on another Capability. If one branch
-- throws, the other is interrupted, and when it has ended the exception is thrown again. Costs about as
-- much as ten function calls when nobody takes the right branch.
--
-- In 'Control.Monad.ST.ST' the branches must not write what the other reads or writes.
both :: PrimBase m => m a -> m b -> m (a, b)
both left right = unsafeIOToPrim (bothOn defaultPool (unsafePrimToIO left) (unsafePrimToIO right))
{-# INLINE both #-}

data Outcome a b
  = RightIsMine a
  | Joined a b

-- | As 'both', on the workers of a pool.
bothOn :: Pool -> IO a -> IO b -> IO (a, b)
bothOn pool left right = do
  masking <- getMaskingState
  cell <- newCell (Branch (isUnmasked masking) right)
  outcome <- branches cell `catch` abandon pool cell
  case outcome of
    RightIsMine a -> do
      b <- right
      pure (a, b)
    Joined a b -> pure (a, b)
  where
    isUnmasked masking = case masking of
      Unmasked -> True
      _ -> False
    branches cell = do
      spawn pool (uncounted pool) cell
      a <- left
      mine <- pop (deques pool) cell
      if mine then pure (RightIsMine a) else joinBranch cell a
{-# INLINE bothOn #-}

-- | The right branch was not popped: claims it, or waits for the worker that runs it.
joinBranch :: Cell b -> a -> IO (Outcome a b)
joinBranch cell a = do
  switchPoint
  status <- claimOwn cell
  case status of
    Branch {} -> pure (RightIsMine a)
    _ -> wait cell >>= either throwIO (pure . Joined a)
{-# NOINLINE joinBranch #-}

-- | The owner has an exception: the right branch must end before it goes on.
abandon :: Pool -> Cell b -> SomeException -> IO a
abandon pool cell e = do
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
-- > fibonacci n = case bothPure (fibonacci (n - 1)) (fibonacci (n - 2)) of (a, b) -> a + b
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
      spawn pool (uncounted pool) cell
      !a <- pure left
      mine <- pop (deques pool) cell
      if mine then pure () else joinSpark cell
      !b <- pure right
      pure (a, b)
{-# INLINE bothPure #-}

-- | The right value was not popped: claims it, or waits for the worker that evaluates it.
joinSpark :: Cell b -> IO ()
joinSpark cell = do
  switchPoint
  status <- claim cell
  case status of
    Spark _ -> pure ()
    _ -> void (wait cell)
{-# NOINLINE joinSpark #-}
