{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Task.Loop.Traverse
-- Description : Actions and functions for all elements of a container
--
-- An element of 'parTraverse' may block, also for what another one does ("Capstan.Task.Loop.Stretch"). One of 'parMap' is pure, and cannot; it may be
-- interrupted and needed later.
module Capstan.Task.Loop.Traverse
  ( parTraverse,
    parTraverse_,
    parFor,
    parFor_,
    parMap,
    parMapWith,
    Parallel (..),
  )
where

import Capstan.Task.Join.Fork (attempt, both, settle)
import Capstan.Task.Loop.For (range, unsafeMapChunks)
import Capstan.Task.Loop.Stretch (each)
import Control.Applicative (liftA2)
import Control.DeepSeq (NFData, rnf)
import Control.Monad (forM, unless, void, when)
import Data.Foldable (toList)
import Data.IORef
import qualified Data.Vector as V
import qualified Data.Vector.Mutable as M
import System.IO.Unsafe (unsafePerformIO)

-- | The results of an action for each element, computed in parallel and evaluated to weak head normal form. If one throws,
-- the others are interrupted, and when they have ended the exception is thrown again. All have exceptions masked as the caller has.
-- Actions may block, also for what other ones do. Costs what a loop over the elements costs, and a few nanoseconds for each.
--
-- > sizes <- parTraverse (fmap length . readFile) ["a", "b", "c"]
parTraverse :: Traversable t => (a -> IO b) -> t a -> IO (t b)
parTraverse action container = do
  results <- M.unsafeNew (V.length elements)
  each (V.length elements) $ \i -> do
    !result <- action (V.unsafeIndex elements i)
    M.unsafeWrite results i result
  V.unsafeFreeze results >>= refill container
  where
    elements = elementsOf container
{-# INLINE parTraverse #-}

-- | As 'parTraverse', without the results.
--
-- > parTraverse_ compress files
parTraverse_ :: Foldable t => (a -> IO b) -> t a -> IO ()
parTraverse_ action container = each (V.length elements) (void . action . V.unsafeIndex elements)
  where
    elements = elementsOf container
{-# INLINE parTraverse_ #-}

-- | 'parTraverse' with its arguments the other way round.
--
-- > lengths <- parFor files (\file -> length <$> readFile file)
parFor :: Traversable t => t a -> (a -> IO b) -> IO (t b)
parFor = flip parTraverse
{-# INLINE parFor #-}

-- | 'parTraverse_' with its arguments the other way round.
parFor_ :: Foldable t => t a -> (a -> IO b) -> IO ()
parFor_ = flip parTraverse_
{-# INLINE parFor_ #-}

-- | 'fmap', whose results are evaluated completely, in parallel, when the container is evaluated. An element that throws does so when
-- it is used. What a deadline interrupts goes on later, but that the elements which were under way may begin anew, once. Costs what a loop
-- over the elements costs.
--
-- > counts = parMap (length . primesBelow) [100000, 200000, 300000]
parMap :: (Traversable t, NFData b) => (a -> b) -> t a -> t b
parMap = parMapWith rnf
{-# INLINE parMap #-}

-- | As 'parMap', whose results are evaluated to weak head normal form, and as far beyond as a function does it, which has no other result.
--
-- > costs = parMapWith (`seq` ()) expensive xs
parMapWith :: Traversable t => (b -> ()) -> (a -> b) -> t a -> t b
parMapWith strategy f container = unsafePerformIO $ do
  results <- M.unsafeNew (V.length elements)
  _ <- unsafeMapChunks (range 0 (V.length elements)) $ \from to -> do
    next <- newIORef from
    let go !i = when (i < to) $ do
          writeIORef next i
          x <- V.unsafeIndexM elements i
          let !y = f x
          M.unsafeWrite results i $! (strategy y `seq` y)
          go (i + 1)
        -- One that threw, or was interrupted, is a value by itself, which is as far evaluated as it has come, or throws for those who use it.
        alone i = do
          x <- V.unsafeIndexM elements i
          let y = f x
          M.unsafeWrite results i y
          settle (y `seq` strategy y)
          through (i + 1)
        through !i = attempt (go i) >>= \done -> unless done (readIORef next >>= alone)
    through from
  V.unsafeFreeze results >>= refill container
  where
    elements = elementsOf container
{-# INLINE parMapWith #-}

-- | The elements, in the order of the container.
elementsOf :: Foldable t => t a -> V.Vector a
elementsOf = V.fromList . toList
{-# NOINLINE [1] elementsOf #-}

{-# RULES "elementsOf/vector" forall (vector :: V.Vector a). elementsOf vector = vector #-}

-- | A container like that, with these elements in its order.
refill :: Traversable t => t a -> V.Vector b -> IO (t b)
refill container results = do
  next <- newIORef 0
  forM container $ \_ -> do
    i <- readIORef next
    writeIORef next $! i + 1
    V.unsafeIndexM results i
{-# NOINLINE [1] refill #-}

{-# RULES "refill/list" forall (list :: [a]). refill list = pure . V.toList #-}

{-# RULES "refill/vector" forall (vector :: V.Vector a). refill vector = pure #-}

-- | Actions whose independent branches run in parallel, as 'both' does it: '<*>' and what is made of it.
--
-- > page <- runParallel (Page <$> Parallel (load header) <*> Parallel (load body) <*> Parallel (load footer))
newtype Parallel a = Parallel {runParallel :: IO a}

instance Functor Parallel where
  fmap f (Parallel action) = Parallel (f <$> action)

instance Applicative Parallel where
  pure = Parallel . pure
  liftA2 f (Parallel left) (Parallel right) = Parallel (uncurry f <$> both left right)
  Parallel left <*> Parallel right = Parallel (uncurry ($) <$> both left right)

instance Semigroup a => Semigroup (Parallel a) where
  (<>) = liftA2 (<>)

instance Monoid a => Monoid (Parallel a) where
  mempty = pure mempty
