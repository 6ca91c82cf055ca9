-- |
-- Module      : Capstan.Task.Lifted
-- Description : Tasks in monads over IO
-- Stability   : experimental
--
-- The functions of "Capstan.Task" for each 'MonadUnliftIO', such as a @ReaderT@ over 'IO' or an
-- application's own newtype of it. Meaning, cost and errors are the same. The module is meant to be
-- imported in place of "Capstan.Task": it also exports the functions and types that need no
-- lifting.
--
-- > import Capstan.Task.Lifted
-- >
-- > sizes :: [FilePath] -> ReaderT FilePath IO [Int]
-- > sizes files = parFor files $ \file -> do
-- >   folder <- ask
-- >   liftIO (length <$> readFile (folder </> file))
--
-- @since 0.1.0
module Capstan.Task.Lifted
  ( -- * Scopes
    Scope,
    run,
    runOn,
    runWithin,
    cancel,
    Duration,
    nanoseconds,
    microseconds,
    milliseconds,
    seconds,
    unlimited,
    Cancelled (..),
    ScopeEnded (..),
    PoolEnded (..),

    -- * Tasks
    Promise,
    async,
    asyncNF,
    asyncCancellable,
    await,
    awaitCatch,
    awaitWithin,
    awaitAll,
    awaitAny,
    awaitSTM,
    poll,
    pollSTM,

    -- * Two branches
    both,
    bothNF,
    bothOn,
    bothPure,

    -- * Containers
    parTraverse,
    parTraverse_,
    parFor,
    parFor_,
    parTraverseN,
    parTraverseN_,
    parForN,
    parForN_,
    parMap,
    parMapWith,
    Parallel (..),

    -- * Loops
    Range,
    range,
    chunk,
    onPool,
    parallelFor,
    parallelForAfter,
    parallelForReduce,
    parallelFind,
    mapChunks,
    mapChunksNF,

    -- * Loops over several dimensions
    Grid,
    along,
    crossing,
    parallelForGrid,

    -- * States of workers
    WorkerStates,
    newWorkerStates,
    withWorkerState,
    workerStates,

    -- * Vectors
    parallelScan,
    prefixSum,
    parallelSort,
    parallelSortBy,

    -- * Pools
    Pool,
    defaultPool,
    withPool,
    lookupPool,
    poolName,
    poolSize,

    -- * An order that follows from a seed
    seeded,
    switchPoint,
  )
where

import Capstan.Task
  ( Cancelled (..),
    Duration,
    Grid,
    Pool,
    PoolEnded (..),
    Promise,
    Range,
    Scope,
    ScopeEnded (..),
    WorkerStates,
    along,
    awaitSTM,
    bothPure,
    chunk,
    crossing,
    defaultPool,
    microseconds,
    milliseconds,
    nanoseconds,
    onPool,
    parMap,
    parMapWith,
    parallelScan,
    parallelSort,
    parallelSortBy,
    pollSTM,
    poolName,
    prefixSum,
    range,
    seconds,
    unlimited,
  )
import qualified Capstan.Task as Task
import qualified Control.Applicative as Applicative
import Control.DeepSeq (NFData)
import Control.Exception (SomeException)
import Control.Monad.IO.Class (MonadIO (..))
import Control.Monad.IO.Unlift (MonadUnliftIO (..))
import Data.Bifunctor (second)
import GHC.Stack (HasCallStack)

-- | 'Task.run'.
run :: MonadUnliftIO m => (Scope -> m a) -> m a
run body = withRunInIO $ \io -> Task.run (io . body)
{-# INLINE run #-}

-- | 'Task.runOn'.
runOn :: MonadUnliftIO m => Pool -> (Scope -> m a) -> m a
runOn pool body = withRunInIO $ \io -> Task.runOn pool (io . body)
{-# INLINE runOn #-}

-- | 'Task.runWithin'.
runWithin :: MonadUnliftIO m => Duration -> (Scope -> m a) -> m (Maybe a)
runWithin limit body = withRunInIO $ \io -> Task.runWithin limit (io . body)
{-# INLINE runWithin #-}

-- | 'Task.async'.
async :: MonadUnliftIO m => Scope -> m a -> m (Promise a)
async scope action = withRunInIO $ \io -> Task.async scope (io action)
{-# INLINE async #-}

-- | 'Task.asyncNF'.
asyncNF :: (MonadUnliftIO m, NFData a) => Scope -> m a -> m (Promise a)
asyncNF scope action = withRunInIO $ \io -> Task.asyncNF scope (io action)
{-# INLINE asyncNF #-}

-- | 'Task.asyncCancellable'.
asyncCancellable :: MonadUnliftIO m => Scope -> m a -> m (Promise (Maybe a), m ())
asyncCancellable scope action = withRunInIO $ \io -> second liftIO <$> Task.asyncCancellable scope (io action)
{-# INLINE asyncCancellable #-}

-- | 'Task.await'.
await :: MonadIO m => Promise a -> m a
await = liftIO . Task.await
{-# INLINE await #-}

-- | 'Task.awaitCatch'.
awaitCatch :: MonadIO m => Promise a -> m (Either SomeException a)
awaitCatch = liftIO . Task.awaitCatch
{-# INLINE awaitCatch #-}

-- | 'Task.awaitWithin'.
awaitWithin :: MonadIO m => Duration -> Promise a -> m (Maybe a)
awaitWithin limit = liftIO . Task.awaitWithin limit
{-# INLINE awaitWithin #-}

-- | 'Task.awaitAll'.
awaitAll :: (MonadIO m, Traversable t) => t (Promise a) -> m (t a)
awaitAll = liftIO . Task.awaitAll
{-# INLINE awaitAll #-}

-- | 'Task.awaitAny'.
awaitAny :: (HasCallStack, MonadIO m, Foldable t) => t (Promise a) -> m (Promise a, a)
awaitAny = liftIO . Task.awaitAny
{-# INLINE awaitAny #-}

-- | 'Task.poll'.
poll :: MonadIO m => Promise a -> m (Maybe (Either SomeException a))
poll = liftIO . Task.poll
{-# INLINE poll #-}

-- | 'Task.cancel'.
cancel :: MonadIO m => Scope -> m ()
cancel = liftIO . Task.cancel
{-# INLINE cancel #-}

-- | 'Task.both'.
both :: MonadUnliftIO m => m a -> m b -> m (a, b)
both left right = withRunInIO $ \io -> Task.both (io left) (io right)
{-# INLINE both #-}

-- | 'Task.bothNF'.
bothNF :: (MonadUnliftIO m, NFData a, NFData b) => m a -> m b -> m (a, b)
bothNF left right = withRunInIO $ \io -> Task.bothNF (io left) (io right)
{-# INLINE bothNF #-}

-- | 'Task.bothOn'.
bothOn :: MonadUnliftIO m => Pool -> m a -> m b -> m (a, b)
bothOn pool left right = withRunInIO $ \io -> Task.bothOn pool (io left) (io right)
{-# INLINE bothOn #-}

-- | 'Task.parTraverse'.
parTraverse :: (MonadUnliftIO m, Traversable t) => (a -> m b) -> t a -> m (t b)
parTraverse action container = withRunInIO $ \io -> Task.parTraverse (io . action) container
{-# INLINE parTraverse #-}

-- | 'Task.parTraverse_'.
parTraverse_ :: (MonadUnliftIO m, Foldable t) => (a -> m b) -> t a -> m ()
parTraverse_ action container = withRunInIO $ \io -> Task.parTraverse_ (io . action) container
{-# INLINE parTraverse_ #-}

-- | 'Task.parFor'.
parFor :: (MonadUnliftIO m, Traversable t) => t a -> (a -> m b) -> m (t b)
parFor = flip parTraverse
{-# INLINE parFor #-}

-- | 'Task.parFor_'.
parFor_ :: (MonadUnliftIO m, Foldable t) => t a -> (a -> m b) -> m ()
parFor_ = flip parTraverse_
{-# INLINE parFor_ #-}

-- | 'Task.parTraverseN'.
parTraverseN :: (HasCallStack, MonadUnliftIO m, Traversable t) => Int -> (a -> m b) -> t a -> m (t b)
parTraverseN most action container = withRunInIO $ \io -> Task.parTraverseN most (io . action) container

-- | 'Task.parTraverseN_'.
parTraverseN_ :: (HasCallStack, MonadUnliftIO m, Foldable t) => Int -> (a -> m b) -> t a -> m ()
parTraverseN_ most action container = withRunInIO $ \io -> Task.parTraverseN_ most (io . action) container

-- | 'Task.parForN'.
parForN :: (HasCallStack, MonadUnliftIO m, Traversable t) => Int -> t a -> (a -> m b) -> m (t b)
parForN most = flip (parTraverseN most)

-- | 'Task.parForN_'.
parForN_ :: (HasCallStack, MonadUnliftIO m, Foldable t) => Int -> t a -> (a -> m b) -> m ()
parForN_ most = flip (parTraverseN_ most)

-- | 'Task.parallelFor'.
parallelFor :: MonadUnliftIO m => Range -> (Int -> m ()) -> m ()
parallelFor indices body = withRunInIO $ \io -> Task.parallelFor indices (io . body)
{-# INLINE parallelFor #-}

-- | 'Task.parallelForAfter'.
parallelForAfter :: MonadUnliftIO m => Range -> (Int -> [Int]) -> (Int -> m ()) -> m ()
parallelForAfter indices before body = withRunInIO $ \io -> Task.parallelForAfter indices before (io . body)
{-# INLINE parallelForAfter #-}

-- | 'Task.parallelForReduce'.
parallelForReduce :: MonadUnliftIO m => Range -> (a -> a -> a) -> a -> (Int -> m a) -> m a
parallelForReduce indices combine neutral body = withRunInIO $ \io -> Task.parallelForReduce indices combine neutral (io . body)
{-# INLINE parallelForReduce #-}

-- | 'Task.parallelFind'.
parallelFind :: MonadUnliftIO m => Range -> (Int -> m (Maybe a)) -> m (Maybe a)
parallelFind indices body = withRunInIO $ \io -> Task.parallelFind indices (io . body)
{-# INLINE parallelFind #-}

-- | 'Task.mapChunks'.
mapChunks :: MonadUnliftIO m => Range -> (Int -> Int -> m a) -> m [a]
mapChunks indices body = withRunInIO $ \io -> Task.mapChunks indices (\from to -> io (body from to))
{-# INLINE mapChunks #-}

-- | 'Task.mapChunksNF'.
mapChunksNF :: (MonadUnliftIO m, NFData a) => Range -> (Int -> Int -> m a) -> m [a]
mapChunksNF indices body = withRunInIO $ \io -> Task.mapChunksNF indices (\from to -> io (body from to))
{-# INLINE mapChunksNF #-}

-- | 'Task.withPool'.
withPool :: (HasCallStack, MonadUnliftIO m) => String -> Int -> (Pool -> m a) -> m a
withPool name size body = withRunInIO $ \io -> Task.withPool name size (io . body)
{-# INLINE withPool #-}

-- | 'Task.lookupPool'.
lookupPool :: MonadIO m => String -> m (Maybe Pool)
lookupPool = liftIO . Task.lookupPool
{-# INLINE lookupPool #-}

-- | 'Task.poolSize'.
poolSize :: MonadIO m => Pool -> m Int
poolSize = liftIO . Task.poolSize
{-# INLINE poolSize #-}

-- | 'Task.parallelForGrid'.
parallelForGrid :: (HasCallStack, MonadUnliftIO m) => Grid i -> (i -> m ()) -> m ()
parallelForGrid grid body = withRunInIO $ \io -> Task.parallelForGrid grid (io . body)
{-# INLINE parallelForGrid #-}

-- | 'Task.newWorkerStates'.
newWorkerStates :: MonadUnliftIO m => m s -> m (WorkerStates s)
newWorkerStates make = withRunInIO $ \io -> Task.newWorkerStates (io make)
{-# INLINE newWorkerStates #-}

-- | 'Task.withWorkerState'.
withWorkerState :: MonadUnliftIO m => WorkerStates s -> (s -> m a) -> m a
withWorkerState states body = withRunInIO $ \io -> Task.withWorkerState states (io . body)
{-# INLINE withWorkerState #-}

-- | 'Task.workerStates'.
workerStates :: MonadIO m => WorkerStates s -> m [s]
workerStates = liftIO . Task.workerStates
{-# INLINE workerStates #-}

-- | As 'Task.Parallel': '<*>' runs its two actions in parallel.
newtype Parallel m a = Parallel {runParallel :: m a}

instance Functor m => Functor (Parallel m) where
  fmap f (Parallel action) = Parallel (f <$> action)

instance MonadUnliftIO m => Applicative (Parallel m) where
  pure = Parallel . pure
  liftA2 f (Parallel left) (Parallel right) = Parallel (uncurry f <$> both left right)
  Parallel left <*> Parallel right = Parallel (uncurry ($) <$> both left right)

instance (MonadUnliftIO m, Semigroup a) => Semigroup (Parallel m a) where
  (<>) = Applicative.liftA2 (<>)

instance (MonadUnliftIO m, Monoid a) => Monoid (Parallel m a) where
  mempty = pure mempty

-- | 'Task.seeded'.
seeded :: MonadUnliftIO m => Int -> m a -> m a
seeded seed action = withRunInIO $ \io -> Task.seeded seed (io action)
{-# INLINE seeded #-}

-- | 'Task.switchPoint'.
switchPoint :: MonadIO m => m ()
switchPoint = liftIO Task.switchPoint
{-# INLINE switchPoint #-}
