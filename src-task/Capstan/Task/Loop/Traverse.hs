{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Task.Loop.Traverse
-- Description : Actions and functions for all elements of a container
--
-- An action of 'parTraverse' may block, even to wait for another action
-- ("Capstan.Task.Loop.Stretch"). An element of 'parMap' is pure and cannot block, but its
-- evaluation may be interrupted and resumed later.
module Capstan.Task.Loop.Traverse
  ( parTraverse,
    parTraverse_,
    parFor,
    parFor_,
    parTraverseN,
    parTraverseN_,
    parForN,
    parForN_,
    parMap,
    parMapWith,
    parEvaluate,
    Parallel (..),
  )
where

import Capstan.Domain (fetchAdd, newAtomicInt)
import Capstan.Exception (throwInvalid)
import Capstan.Task.Join.Fork (attempt, both, settle)
import Capstan.Task.Loop.For (parallelFor, range, unsafeMapChunks)
import Capstan.Task.Loop.Stretch (each)
import qualified Control.Applicative as Applicative
import Control.DeepSeq (NFData, rnf)
import Control.Monad (forM, unless, void, when)
import Data.Foldable (toList)
import Data.IORef
import qualified Data.Vector as V
import qualified Data.Vector.Mutable as M
import qualified Data.Vector.Unboxed.Mutable as U
import GHC.Stack (HasCallStack)
import System.IO.Unsafe (unsafePerformIO)
import Unsafe.Coerce (unsafeCoerce)

-- | Runs an action for each element in parallel, and evaluates the results to weak head normal
-- form. If an action throws, the others are interrupted, and the exception is thrown again when
-- they have ended. All actions have the masking state of the caller. An action may block, even to
-- wait for another action. Costs as much as a loop over the elements, and a few nanoseconds for
-- each element.
--
-- > sizes <- parTraverse (fmap length . readFile) ["a", "b", "c"]
parTraverse :: Traversable t => (a -> IO b) -> t a -> IO (t b)
parTraverse = gather each
{-# INLINE parTraverse #-}

-- | As 'parTraverse', without the results.
--
-- > parTraverse_ compress files
parTraverse_ :: Foldable t => (a -> IO b) -> t a -> IO ()
parTraverse_ action container = each (V.length elements) (void . action . V.unsafeIndex elements)
  where
    elements = elementsOf container
{-# INLINE parTraverse_ #-}

-- | 'parTraverse' with its arguments swapped.
--
-- > lengths <- parFor files (\file -> length <$> readFile file)
parFor :: Traversable t => t a -> (a -> IO b) -> IO (t b)
parFor = flip parTraverse
{-# INLINE parFor #-}

-- | 'parTraverse_' with its arguments swapped.
parFor_ :: Foldable t => t a -> (a -> IO b) -> IO ()
parFor_ = flip parTraverse_
{-# INLINE parFor_ #-}

-- | As 'parTraverse', with at most the given number of actions at a time, also while actions block.
-- This is for actions that hold something scarce, such as a connection. An action may wait for
-- others only if these have begun. Throws an 'Capstan.Exception.InvalidArgument' if the number is
-- below 1.
--
-- > pages <- parTraverseN 8 fetch addresses
parTraverseN :: (HasCallStack, Traversable t) => Int -> (a -> IO b) -> t a -> IO (t b)
parTraverseN most = gather (inLanes most)

-- | As 'parTraverseN', without the results.
--
-- > parTraverseN_ 4 compress files
parTraverseN_ :: (HasCallStack, Foldable t) => Int -> (a -> IO b) -> t a -> IO ()
parTraverseN_ most action container = inLanes most (V.length elements) (void . action . V.unsafeIndex elements)
  where
    elements = elementsOf container

-- | 'parTraverseN' with its last two arguments swapped.
--
-- > sizes <- parForN 2 files (\file -> length <$> readFile file)
parForN :: (HasCallStack, Traversable t) => Int -> t a -> (a -> IO b) -> IO (t b)
parForN most = flip (parTraverseN most)

-- | 'parTraverseN_' with its last two arguments swapped.
--
-- > parForN_ 2 files compress
parForN_ :: (HasCallStack, Foldable t) => Int -> t a -> (a -> IO b) -> IO ()
parForN_ most = flip (parTraverseN_ most)

-- | Runs the action for each index below a count, in a number of lanes. A lane runs one action after
-- the other. Each takes the next index.
inLanes :: HasCallStack => Int -> Int -> (Int -> IO ()) -> IO ()
inLanes most count action
  | most < 1 = throwInvalid ("Capstan.Task.parTraverseN: " ++ show most ++ " actions at a time; the number must be 1 or more")
  | otherwise = do
    next <- newAtomicInt 0
    let lane = do
          i <- fetchAdd next 1
          when (i < count) (action i >> lane)
        lanes n = if n <= 1 then lane else void (both (lanes (n - n `quot` 2)) (lanes (n `quot` 2)))
    lanes (min most count)

-- | As 'fmap', but the evaluation of the container evaluates all results completely, in parallel.
-- If an element throws, it throws when it is used. An evaluation that a deadline interrupts is
-- resumed later, but elements that were being evaluated may begin anew, once. Costs as much as a
-- loop over the elements.
--
-- > counts = parMap (length . primesBelow) [100000, 200000, 300000]
parMap :: (Traversable t, NFData b) => (a -> b) -> t a -> t b
parMap = parMapWith rnf
{-# INLINE parMap #-}

-- | As 'parMap', but evaluates each result to weak head normal form, and further as the given
-- function does. The function's only result is @()@.
--
-- > costs = parMapWith (`seq` ()) expensive xs
parMapWith :: Traversable t => (b -> ()) -> (a -> b) -> t a -> t b
parMapWith strategy f container = unsafePerformIO $ do
  results <- M.unsafeNew (V.length elements)
  _ <- unsafeMapChunks (range 0 (V.length elements)) $ \from to -> do
    -- The index of the element that is being evaluated, unboxed: an 'IORef' would take a boxed number
    -- for each element.
    next <- U.replicate 1 from
    let go !i = when (i < to) $ do
          U.unsafeWrite next 0 i
          x <- V.unsafeIndexM elements i
          let !y = f x
          M.unsafeWrite results i $! (strategy y `seq` y)
          go (i + 1)
        -- An element that threw or was interrupted becomes a value of its own. Either it is partly
        -- evaluated and can be resumed, or it throws when it is used.
        alone i = do
          x <- V.unsafeIndexM elements i
          let y = f x
          M.unsafeWrite results i y
          settle (y `seq` strategy y)
          through (i + 1)
        through !i = attempt (go i) >>= \done -> unless done (U.unsafeRead next 0 >>= alone)
    through from
  V.unsafeFreeze results >>= refill container
  where
    elements = elementsOf container
{-# INLINE parMapWith #-}

-- | As 'fmap', with all results evaluated to weak head normal form, in parallel. If an element
-- throws, the call throws.
--
-- Each result takes the place of its element, so that the collector keeps no element whose result
-- is there. (In the port "Paths" of @tests/ports@ it copied 1.3 GB otherwise, 0.85 so.)
parEvaluate :: Traversable t => (a -> b) -> t a -> IO (t b)
parEvaluate f container = do
  elements <- V.thaw (elementsOf container)
  let results = unsafeCoerce elements
  parallelFor (range 0 (M.length elements)) $ \i -> M.unsafeRead elements i >>= \x -> M.unsafeWrite results i $! f x
  V.unsafeFreeze results >>= refill container
{-# INLINE parEvaluate #-}

-- | The results of the action for all elements, to weak head normal form. The given loop runs a
-- body for each index below a count.
gather :: Traversable t => (Int -> (Int -> IO ()) -> IO ()) -> (a -> IO b) -> t a -> IO (t b)
gather loop action container = do
  results <- M.unsafeNew (V.length elements)
  loop (V.length elements) $ \i -> do
    !result <- action (V.unsafeIndex elements i)
    M.unsafeWrite results i result
  V.unsafeFreeze results >>= refill container
  where
    elements = elementsOf container
{-# INLINE gather #-}

-- | The elements, in the order of the container.
elementsOf :: Foldable t => t a -> V.Vector a
elementsOf = V.fromList . toList
{-# NOINLINE [1] elementsOf #-}

{-# RULES "elementsOf/vector" forall (vector :: V.Vector a). elementsOf vector = vector #-}

-- | A container of the same shape with the given elements, in its order.
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

-- | Actions whose independent branches run in parallel, by 'both': '<*>', and functions that are
-- built on it.
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
  (<>) = Applicative.liftA2 (<>)

instance Monoid a => Monoid (Parallel a) where
  mempty = pure mempty
