{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Loop.Traverse
-- Description : Actions and functions for all elements of a container
--
-- The elements are divided by halves, each two of which are branches of a fork: so each element may block, also for what another one does,
-- as a branch may.
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

import Capstan.Task.Join.Fork
import Capstan.Task.Loop.For (range, unsafeParallelFor)
import Control.Applicative (liftA2)
import Control.DeepSeq (NFData, rnf)
import Control.Monad (unless, void)
import Data.Foldable (toList)
import Data.Traversable (mapAccumL)
import qualified Data.Vector as V
import qualified Data.Vector.Mutable as M
import System.IO.Unsafe (unsafePerformIO)

-- | The results of an action for each element, computed in parallel and evaluated to weak head normal form. If one throws,
-- the others are interrupted, and when they have ended the exception is thrown again. All have exceptions masked as the caller has.
-- Actions may block. Costs some ten nanoseconds for each element.
--
-- > sizes <- parTraverse (fmap length . readFile) ["a", "b", "c"]
parTraverse :: Traversable t => (a -> IO b) -> t a -> IO (t b)
parTraverse action container = do
  results <- M.unsafeNew count
  halves count $ \i -> do
    !result <- action (V.unsafeIndex elements i)
    M.unsafeWrite results i result
  frozen <- V.unsafeFreeze results
  pure $! snd (mapAccumL (\i _ -> (i + 1, V.unsafeIndex frozen i)) 0 container)
  where
    elements = V.fromList (toList container)
    count = V.length elements
{-# INLINE parTraverse #-}

-- | As 'parTraverse', without the results.
--
-- > parTraverse_ compress files
parTraverse_ :: Foldable t => (a -> IO b) -> t a -> IO ()
parTraverse_ action container = halves (V.length elements) (void . action . V.unsafeIndex elements)
  where
    elements = V.fromList (toList container)
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

-- | The action for each index below a number.
halves :: Int -> (Int -> IO ()) -> IO ()
halves count action = unless (count == 0) (go 0 count)
  where
    go !from !to
      | to - from == 1 = action from
      | otherwise = let middle = (from + to) `quot` 2 in void (both (go from middle) (go middle to))
{-# INLINE halves #-}

-- | 'fmap', whose results are evaluated completely, in parallel, when the container is evaluated. An element that throws does so when
-- it is used. Costs some nanoseconds for each element.
--
-- > counts = parMap (length . primesBelow) [100000, 200000, 300000]
parMap :: (Traversable t, NFData b) => (a -> b) -> t a -> t b
parMap = parMapWith rnf
{-# INLINE parMap #-}

-- | As 'parMap', whose results are evaluated as a function does, which has no other result.
--
-- > costs = parMapWith (`seq` ()) expensive xs
parMapWith :: Traversable t => (b -> ()) -> (a -> b) -> t a -> t b
parMapWith strategy f container = unsafePerformIO $ do
  let results = fmap f container
      elements = V.fromList (toList results)
  unsafeParallelFor (range 0 (V.length elements)) (settle . strategy . V.unsafeIndex elements)
  pure results
{-# NOINLINE parMapWith #-}

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
