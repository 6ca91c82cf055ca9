{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Work.Group
-- Description : Groups of tasks and branches that are cancelled together
--
-- One failure ends a whole /group/. A group is the body and the tasks of a scope, or the right
-- branch of a fork that a worker has taken, with all forks inside it. Its members are its running
-- parts, each with an action that stops it. A worker that runs tasks of a scope one after the other
-- is one member meanwhile ("Capstan.Task.Work.Visit"). To doom a group stops all its members, and
-- the members of groups inside it, before any of them has left one frame of its stack.
--
-- A group is one word, which changes by compare-and-swap: either it lives and has members, or it is
-- doomed. So either the thread that dooms the group finds a new member, or the new member finds the
-- group doomed and does not begin.
--
-- == Threads that are blocked for ever
--
-- A thread that throws no longer writes the values for which other threads wait. The collector may
-- find those threads blocked for ever before the first thread has left its stack and doomed the
-- group. Their failure is only a consequence, whichever failure comes first. So it is the weakest
-- reason: a group that is doomed by it takes the next reason.
--
-- == Contexts
--
-- A fork has no argument for its group, so each thread keeps its /context/ in a place of its own. A
-- Capability remembers the place of the thread that pushed last ("Capstan.Task.Work.Deque"), and
-- pushes the context with the task. Only the thread itself writes to its place; other threads see
-- contexts only in deques.
module Capstan.Task.Work.Group
  ( Group,
    Member (..),
    Context (..),
    owner,
    stopped,
    isConsequence,
    newGroup,
    fate,
    doom,
    enter,
    Place (..),
    target,
    placeHere,
    workerPlace,
    contextAt,
    isOf,
    within,
  )
where

import Capstan.Internal.Swap (modifyEvaluated, swapVariable)
import Capstan.Task.Thread.Target
import Control.Exception
import Control.Monad (filterM)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import GHC.Conc (ThreadId (..), myThreadId)
import GHC.Exts
import GHC.IO (IO (..))
import System.IO.Unsafe (unsafePerformIO)

-- | A group of tasks and branches that are cancelled together.
data Group = Group (MutVar# RealWorld Fate)

instance Eq Group where
  Group a == Group b = isTrue# (sameMutVar# a b)

-- | The state of a group.
data Fate
  = -- | The number of members, the number at which ended members are removed, and the members.
    Lives !Int !Int [Member]
  | Doomed !SomeException

-- | A running part of a group: whether it has ended, and the action that stops it. Neither blocks
-- or throws.
data Member = Member
  { isOver :: IO Bool,
    stop :: IO ()
  }

-- | The context of a thread: the thread itself, and the group in which it runs.
data Context
  = -- | No group: only an exception to the thread itself ends its forks.
    Outside !Target
  | -- | A group, and the exception by which the group's failure reaches the thread.
    Inside !Target !Group !SomeException

-- | The thread of a context, which pushed the entries that have this context.
owner :: Context -> Target
owner (Outside thread) = thread
owner (Inside thread _ _) = thread

-- | A group without members.
newGroup :: IO Group
newGroup = IO $ \s -> case newMutVar# (Lives 0 16 []) s of (# s1, var #) -> (# s1, Group var #)

readFate :: Group -> IO Fate
readFate (Group var) = IO (readMutVar# var)

swap :: Group -> Fate -> Fate -> IO Bool
swap (Group var) = swapVariable var

-- | The exception with which the group has failed, if it has failed.
fate :: Group -> IO (Maybe SomeException)
fate group = do
  now <- readFate group
  pure $ case now of
    Doomed e -> Just e
    Lives {} -> Nothing

-- | Whether the collector has thrown the exception, to a thread that waits for ever. The failure of
-- another thread may be the reason.
isConsequence :: SomeException -> Bool
isConsequence e
  | Just BlockedIndefinitelyOnMVar <- fromException e = True
  | Just BlockedIndefinitelyOnSTM <- fromException e = True
  | Just NonTermination <- fromException e = True
  | otherwise = False

-- | Makes the group fail, unless it has failed already, and stops its members, the oldest first.
-- The caller has masked exceptions. Returns whether this call made the group fail.
doom :: Group -> SomeException -> IO Bool
doom group e = do
  now <- readFate group
  case now of
    Doomed known
      | isConsequence known && not (isConsequence e) -> do
        swapped <- swap group now (Doomed e)
        if swapped then pure False else doom group e
      | otherwise -> pure False
    Lives _ _ members -> do
      swapped <- swap group now (Doomed e)
      if swapped then True <$ mapM_ stop (reverse members) else doom group e

-- | Adds a member that is about to begin. If the call returns an exception, the group is doomed,
-- and the member must throw this exception.
enter :: Context -> Member -> IO (Maybe SomeException)
enter (Outside _) _ = pure Nothing
enter context@(Inside _ group reason) member = do
  now <- readFate group
  case now of
    Doomed _ -> pure (Just reason)
    Lives count limit members -> do
      next <-
        if count < limit
          then pure (Lives (count + 1) limit (member : members))
          else do
            running <- filterM (fmap not . isOver) members
            let left = length running
            pure (Lives (left + 1) (max 16 (2 * left)) (member : running))
      swapped <- swap group now next
      if swapped then pure Nothing else enter context member

-- | The exception by which the failure of the group reaches the thread, if the group has failed. A
-- thread that throws another exception asks this first, because the interrupt may have arrived
-- already, and a later exception may have replaced it.
stopped :: Context -> IO (Maybe SomeException)
stopped (Outside _) = pure Nothing
stopped (Inside _ group reason) = fmap (const reason) <$> fate group

-- | The place of a thread, which holds its context.
data Place = Place (MutVar# RealWorld Context) !Target

instance Eq Place where
  Place a _ == Place b _ = isTrue# (sameMutVar# a b)

-- | The thread to which a place belongs.
target :: Place -> Target
target (Place _ thread) = thread

-- The places by the numbers of their threads, which GHC never reuses. No thread waits for this
-- table: the conductor of a seeded run would think that the thread waits for a task.
places :: IORef (IntMap.IntMap Place)
places = unsafePerformIO (newIORef $! IntMap.empty)
{-# NOINLINE places #-}

newPlace :: IO (Place, Self)
newPlace = do
  (thread, self) <- targetHere
  IO $ \s -> case newMutVar# (Outside thread) s of (# s1, var #) -> (# s1, (Place var thread, self) #)

-- | The place of the calling thread. It exists as long as the thread, but does not keep the thread
-- alive.
placeHere :: IO Place
placeHere = do
  n <- threadNumber
  known <- IntMap.lookup n <$> readIORef places
  case known of
    Just place -> pure place
    Nothing -> do
      (place, _) <- register n
      ThreadId thread <- myThreadId
      IO $ \s -> case mkWeak# thread () (unIO (forget n)) s of (# s1, _ #) -> (# s1, () #)
      pure place
  where
    unIO (IO action) = action

register :: Int -> IO (Place, Self)
register n = do
  made@(place, _) <- newPlace
  modifyEvaluated places (IntMap.insert n place)
  pure made

forget :: Int -> IO ()
forget n = modifyEvaluated places (IntMap.delete n)

-- | Gives the calling thread a place while an action runs. This is cheaper than 'placeHere', for
-- threads that end soon.
workerPlace :: (Place -> Self -> IO a) -> IO a
workerPlace action = do
  n <- threadNumber
  (place, self) <- register n
  x <- action place self
  x <$ forget n

-- | The context of the calling thread, which owns the place.
contextAt :: Place -> IO Context
contextAt (Place var _) = IO (readMutVar# var)

-- | Whether a context belongs to the group itself, and not to a group inside it or elsewhere.
isOf :: Context -> Group -> Bool
isOf (Outside _) _ = False
isOf (Inside _ (Group a) _) (Group b) = isTrue# (sameMutVar# a b)

-- | Runs an action in a context. The place belongs to the calling thread, and the action must not
-- throw.
within :: Place -> Context -> IO a -> IO a
within place@(Place var _) !context action = do
  before <- contextAt place
  write context
  x <- action
  x <$ write before
  where
    write c = IO $ \s -> (# writeMutVar# var c s, () #)
