-- |
-- Module      : Capstan.Task.Par
-- Description : Deterministic parallelism in pure code: monad-par's interface, on tasks
-- Stability   : experimental
--
-- The module has the names of monad-par's @Control.Monad.Par@ with the same meaning, so programs
-- for monad-par only change an import. Computations fork other computations and exchange values by
-- 'IVar's. An 'IVar' is written once, so the value of 'runPar' is the same in each run.
--
-- > import Capstan.Task.Par
-- >
-- > fibonacci :: Int -> Par Integer
-- > fibonacci n | n < 2 = pure (toInteger n)
-- > fibonacci n = do
-- >   right <- spawn (fibonacci (n - 2))
-- >   left <- fibonacci (n - 1)
-- >   (left +) <$> get right
-- >
-- > main = print (runPar (fibonacci 30))
--
-- Each 'runPar' is a scope ("Capstan.Task"): it ends when all its forks have ended, and an
-- exception in a fork ends the others. If a program needs no explicit forks, 'Capstan.Task.parMap'
-- and 'Capstan.Task.bothPure' are simpler.
--
-- The module is meant to be imported in place of "Capstan.Task", because it has some of its names
-- with other types.
--
-- @since 0.1.0
module Capstan.Task.Par
  ( Par,
    runPar,
    runParIO,

    -- * Forks
    fork,
    spawn,
    spawn_,
    spawnP,

    -- * Variables that are written once
    IVar,
    new,
    newFull,
    newFull_,
    get,
    put,
    put_,
    WrittenTwice (..),

    -- * Lists and ranges
    parMap,
    parMapM,
    InclusiveRange (..),
    parMapReduceRange,
    parMapReduceRangeThresh,
    parFor,

    -- * Elements that are evaluated completely
    NFData,
  )
where

import Capstan.Exception (capstanFromException, capstanToException)
import Capstan.Task.Join.Fork (both, resuming)
import Capstan.Task.Join.Scope
import Capstan.Task.Loop.Traverse (parTraverse)
import Control.Concurrent.MVar
import Control.DeepSeq (NFData (..), force)
import Control.Exception (Exception (..), evaluate, throwIO)
import Control.Monad (ap, foldM, liftM, unless, void)
import System.IO.Unsafe (unsafePerformIO)

-- | A computation whose parts run in parallel.
newtype Par a = Par (Scope -> IO a)

instance Functor Par where
  fmap = liftM

instance Applicative Par where
  pure x = Par (\_ -> pure x)
  (<*>) = ap

instance Monad Par where
  Par action >>= next = Par (\scope -> action scope >>= \x -> let Par rest = next x in rest scope)

-- | The value of a computation. If a deadline or 'Control.Concurrent.killThread' ends the
-- evaluation, the next thread that needs the value begins it anew. A computation that waits for a
-- variable that no computation writes throws 'Control.Exception.BlockedIndefinitelyOnMVar' when GHC
-- notices it. GHC does not notice it in a top-level constant, which is always reachable.
runPar :: Par a -> a
runPar computation = unsafePerformIO (resuming (runParIO computation))
{-# NOINLINE runPar #-}

-- | As 'runPar', in 'IO', where the call itself throws the exceptions.
runParIO :: Par a -> IO a
runParIO (Par body) = run body

-- | Runs a computation in parallel to the caller. Costs as much as 'Capstan.Task.async'.
fork :: Par () -> Par ()
fork (Par action) = Par (\scope -> void (async scope (action scope)))

-- | Runs a computation in parallel to the caller. The computation evaluates its result completely.
spawn :: NFData a => Par a -> Par (IVar a)
spawn (Par action) = Par (\scope -> Promised <$> asyncNF scope (action scope))

-- | As 'spawn', with a result that is evaluated to weak head normal form.
spawn_ :: Par a -> Par (IVar a)
spawn_ (Par action) = Par (\scope -> Promised <$> async scope (action scope))

-- | Evaluates a value completely, in parallel to the caller.
spawnP :: NFData a => a -> Par (IVar a)
spawnP = spawn . pure

-- | A variable that is written once, and read by any number of computations. Variables are equal if
-- they are the same variable.
data IVar a
  = Promised !(Promise a)
  | Written !(MVar a)

instance Eq (IVar a) where
  Promised one == Promised other = one == other
  Written one == Written other = one == other
  _ == _ = False

-- | Evaluates the variable itself, not its value.
instance NFData (IVar a) where
  rnf variable = variable `seq` ()

-- | The exception of a second 'put' to a variable, and of a 'put' to the result of a 'spawn'.
data WrittenTwice = WrittenTwice
  deriving (Eq, Show)

instance Exception WrittenTwice where
  toException = capstanToException
  fromException = capstanFromException

-- | A variable without a value.
new :: Par (IVar a)
new = Par (\_ -> Written <$> newEmptyMVar)

-- | A variable with a value, which is evaluated completely.
newFull :: NFData a => a -> Par (IVar a)
newFull = newFull_ . force

-- | As 'newFull', but evaluates the value to weak head normal form.
newFull_ :: a -> Par (IVar a)
newFull_ x = Par (\_ -> evaluate x >>= fmap Written . newMVar)

-- | The value of a variable. Waits until it has been written.
get :: IVar a -> Par a
get (Promised promise) = Par (\_ -> await promise)
get (Written box) = Par (\_ -> readMVar box)

-- | Evaluates a value completely, and writes it to the variable.
put :: NFData a => IVar a -> a -> Par ()
put variable = put_ variable . force

-- | As 'put', but evaluates the value to weak head normal form.
put_ :: IVar a -> a -> Par ()
put_ (Promised _) _ = Par (\_ -> throwIO WrittenTwice)
put_ (Written box) x = Par $ \_ -> do
  first <- evaluate x >>= tryPutMVar box
  unless first (throwIO WrittenTwice)

-- | Applies the function to all elements. A computation of its own evaluates each result
-- completely.
parMap :: (Traversable t, NFData b) => (a -> b) -> t a -> Par (t b)
parMap f = parMapM (pure . f)

-- | As 'parMap', for functions that compute in parallel themselves.
parMapM :: (Traversable t, NFData b) => (a -> Par b) -> t a -> Par (t b)
parMapM f container = Par (\scope -> parTraverse (\x -> computation (f x) scope >>= evaluate . force) container)
  where
    computation (Par action) = action

-- | The numbers from the first to the second, both included.
data InclusiveRange = InclusiveRange Int Int
  deriving (Eq, Show)

-- | The results of a computation for all numbers of a range, combined in their order. The arguments
-- are the computation, an associative function, and its neutral element. The range is halved into
-- some 500 parts.
parMapReduceRange :: NFData a => InclusiveRange -> (Int -> Par a) -> (a -> a -> Par a) -> a -> Par a
parMapReduceRange indices@(InclusiveRange from to) = parMapReduceRangeThresh (max 1 (fromIntegral (distance from to `quot` 512))) indices

-- | As 'parMapReduceRange', with the largest number of numbers in a part.
parMapReduceRangeThresh :: NFData a => Int -> InclusiveRange -> (Int -> Par a) -> (a -> a -> Par a) -> a -> Par a
parMapReduceRangeThresh threshold (InclusiveRange first final) body combine neutral = go first final
  where
    go from to
      | to < from || distance from to < fromIntegral (max 1 threshold) = foldM (\sofar i -> body i >>= combine sofar >>= \x -> Par (\_ -> evaluate (force x))) neutral [from .. to]
      | otherwise = do
        let middle = from + fromIntegral (distance from to `quot` 2)
        (left, right) <- beside (go from middle) (go (middle + 1) to)
        combine left right
    beside (Par left) (Par right) = Par (\scope -> both (left scope) (right scope))
{-# INLINE parMapReduceRangeThresh #-}

-- | The second number less the first, 0 if it is smaller. It may exceed an 'Int'.
distance :: Int -> Int -> Word
distance from to = if to < from then 0 else fromIntegral to - fromIntegral from

-- | Runs the computation for all numbers of a range.
parFor :: InclusiveRange -> (Int -> Par ()) -> Par ()
parFor indices body = parMapReduceRange indices body (\_ _ -> pure ()) ()
