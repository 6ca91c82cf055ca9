{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Task.Work.Group
-- Description : What is cancelled together
--
-- A /group/ is what one failure ends: the body and the tasks of a scope; or the right branch of a fork
-- that a worker has taken, with all that is forked in it. Its members are those of it that run, each with what stops
-- it: to doom a group stops all members, those of the groups inside it too, before any of them has left one
-- frame of its stack.
--
-- A group is one word, which changes by compare-and-swap: either it lives and has members, or it is doomed. So who enters
-- is found by who dooms, or finds the group doomed and does not begin.
--
-- == Who is blocked for ever
--
-- What a thread would have written for others is lost when it throws, and the collector may find the others blocked for
-- ever before the thread has left its stack and doomed the group. Their failure is a consequence, whichever comes first. So it
-- is the weakest of reasons: a group that is doomed by it takes the next one.
--
-- == Contexts
--
-- A fork has no argument that tells its group, so each thread keeps its /context/ in a place of its own. A
-- Capability remembers the place of the thread that pushed last ("Capstan.Task.Work.Deque"), and pushes the
-- context with the task. Only the thread itself writes there; others see contexts in deques only.
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

-- | What is cancelled together.
data Group = Group (MutVar# RealWorld Fate)

instance Eq Group where
  Group a == Group b = isTrue# (sameMutVar# a b)

-- | How a group stands.
data Fate
  = -- | Its members, how many they are, and how many there may be before those that are over are sorted out.
    Lives !Int !Int [Member]
  | Doomed !SomeException

-- | One that runs: whether it has ended, and what stops it. Neither blocks or throws.
data Member = Member
  { isOver :: IO Bool,
    stop :: IO ()
  }

-- | The thread that is in it, and what that runs in.
data Context
  = -- | No group: nothing but an exception to the thread itself ends what it forks.
    Outside !Target
  | -- | A group, and the exception by which its failure reaches what is inside.
    Inside !Target !Group !SomeException

-- | The thread that is in it: who pushed an entry in that context.
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

-- | What the group has failed with, if it has.
fate :: Group -> IO (Maybe SomeException)
fate group = do
  now <- readFate group
  pure $ case now of
    Doomed e -> Just e
    Lives {} -> Nothing

-- | Whether the collector has thrown it, to a thread that waited for what never comes. Another's failure may be why.
isConsequence :: SomeException -> Bool
isConsequence e
  | Just BlockedIndefinitelyOnMVar <- fromException e = True
  | Just BlockedIndefinitelyOnSTM <- fromException e = True
  | Just NonTermination <- fromException e = True
  | otherwise = False

-- | Makes the group fail, unless it has, and stops its members, the first of them first. The caller is masked. The
-- answer is whether it had not.
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

-- | Makes one that is about to begin a member. If the answer is an exception the group is doomed, and what is inside
-- throws that.
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

-- | By which exception the failure of the group reaches what is inside, if it has failed. Who throws anything else there asks
-- first: the interrupt may have come already, and what was thrown after it may have taken its place.
stopped :: Context -> IO (Maybe SomeException)
stopped (Outside _) = pure Nothing
stopped (Inside _ group reason) = fmap (const reason) <$> fate group

-- | Where a thread keeps its context.
data Place = Place (MutVar# RealWorld Context) !Target

instance Eq Place where
  Place a _ == Place b _ = isTrue# (sameMutVar# a b)

-- | Whose place it is.
target :: Place -> Target
target (Place _ thread) = thread

-- The places by the numbers of the threads, which are never used again. Nobody waits for them: a thread of a seeded run that did would be
-- taken for one that waits for a task.
places :: IORef (IntMap.IntMap Place)
places = unsafePerformIO (newIORef $! IntMap.empty)
{-# NOINLINE places #-}

newPlace :: IO (Place, Self)
newPlace = do
  (thread, self) <- targetHere
  IO $ \s -> case newMutVar# (Outside thread) s of (# s1, var #) -> (# s1, (Place var thread, self) #)

-- | The place of the calling thread. It lasts as long as the thread, of which it holds nothing.
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

-- | Gives the calling thread a place, for as long as an action takes. Cheaper than 'placeHere', for threads that end soon.
workerPlace :: (Place -> Self -> IO a) -> IO a
workerPlace action = do
  n <- threadNumber
  (place, self) <- register n
  x <- action place self
  x <$ forget n

-- | The context of the calling thread, whose place it is.
contextAt :: Place -> IO Context
contextAt (Place var _) = IO (readMutVar# var)

-- | Whether what runs in that context is of that group itself, and not of one inside it or elsewhere.
isOf :: Context -> Group -> Bool
isOf (Outside _) _ = False
isOf (Inside _ (Group a) _) (Group b) = isTrue# (sameMutVar# a b)

-- | Runs an action, which does not throw, in a context: the calling thread's, whose place it is.
within :: Place -> Context -> IO a -> IO a
within place@(Place var _) !context action = do
  before <- contextAt place
  write context
  x <- action
  x <$ write before
  where
    write c = IO $ \s -> (# writeMutVar# var c s, () #)
