{-# LANGUAGE PatternSynonyms #-}

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
-- Each 'runPar' is a scope ("Capstan.Task"): it ends when all its forks have ended. A fork that
-- waits for a variable that no computation writes is dropped. An exception in a fork ends the
-- others. If a program needs no explicit forks, 'Capstan.Task.parMap' and 'Capstan.Task.bothPure'
-- are simpler.
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
import Capstan.Task.Join.Fork (resuming)
import Capstan.Task.Join.Scope
import Capstan.Task.Join.Variable
import Capstan.Task.Loop.Traverse (parEvaluate, parTraverse)
import Control.DeepSeq (NFData (..), force)
import Control.Exception (Exception (..), evaluate, throwIO)
import Control.Monad (ap, foldM, unless, void, (>=>))
import GHC.Exts (oneShot)
import GHC.IO (IO (..))
import System.IO.Unsafe (unsafePerformIO)

-- | A computation whose parts run in parallel. A computation is a function of its scope and of its
-- continuation, the rest of the program. If the computation waits for a variable, the variable keeps
-- the continuation, and no thread waits.
newtype Par a = Computation (Scope -> (a -> IO ()) -> IO ())

-- | A computation whose function GHC may assume to run once, as it assumes of actions in 'IO'. So it
-- compiles a program's function and the computation that it returns as one function.
pattern Par :: (Scope -> (a -> IO ()) -> IO ()) -> Par a
pattern Par action <-
  Computation action
  where
    Par action = Computation (oneShot (oneShot . action))

{-# COMPLETE Par #-}

instance Functor Par where
  fmap f (Par action) = Par (\scope rest -> action scope (oneShot (rest . f)))

instance Applicative Par where
  pure x = Par (\_ rest -> rest x)
  (<*>) = ap

instance Monad Par where
  Par action >>= next = Par (\scope rest -> action scope (oneShot (\x -> let Par later = next x in later scope rest)))

-- | An action as a function. Otherwise it would be a thunk, whose value is a partial application.
asFunction :: IO a -> IO a
asFunction action = IO (\s -> case action of IO function -> function s)
{-# INLINE asFunction #-}

-- | Performs an action that does not wait.
act :: IO a -> Par a
act action = Par (\_ rest -> action >>= rest)

-- | The value of a computation. If a deadline or 'Control.Concurrent.killThread' ends the
-- evaluation, the next thread that needs the value begins it anew.
--
-- If the value needs a variable that no computation writes, the call throws
-- 'Control.Exception.BlockedIndefinitelyOnMVar' when GHC notices it. GHC does not notice it in a
-- top-level constant, which is always reachable. A fork that waits for such a variable is dropped.
runPar :: Par a -> a
runPar computation = unsafePerformIO (resuming (runParIO computation))
{-# NOINLINE runPar #-}

-- | As 'runPar', in 'IO', where the call itself throws the exceptions.
runParIO :: Par a -> IO a
runParIO (Par action) = run $ \scope -> do
  (promise, fulfil) <- promiseIn scope
  action scope fulfil
  await promise

-- | Runs a computation in parallel to the caller. Costs as much as 'Capstan.Task.async'.
fork :: Par () -> Par ()
fork (Par action) = Par (\scope rest -> async scope (asFunction (action scope (\_ -> pure ()))) >> rest ())

-- | Runs a computation in parallel to the caller. The computation evaluates its result completely.
spawn :: NFData a => Par a -> Par (IVar a)
spawn = spawnWith (evaluate . force)

-- | As 'spawn', with a result that is evaluated to weak head normal form.
spawn_ :: Par a -> Par (IVar a)
spawn_ = spawnWith evaluate

spawnWith :: (a -> IO a) -> Par a -> Par (IVar a)
spawnWith strategy (Par action) = Par $ \scope rest -> do
  variable <- newVariable
  task <- async scope (asFunction (action scope (strategy >=> void . write variable)))
  rest (Result variable task)
{-# INLINE spawnWith #-}

-- | Evaluates a value completely, in parallel to the caller.
spawnP :: NFData a => a -> Par (IVar a)
spawnP = spawn . pure

-- | A variable that is written once, and read by any number of computations, also by those of
-- another 'runPar'. Variables are equal if they are the same variable. The result of a 'spawn' has
-- the task that computes it.
data IVar a
  = Plain !(Variable a)
  | Result !(Variable a) !(Promise ())

instance Eq (IVar a) where
  one == other = variableOf one == variableOf other

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
new = act (Plain <$> newVariable)

-- | A variable with a value, which is evaluated completely.
newFull :: NFData a => a -> Par (IVar a)
newFull = newFull_ . force

-- | As 'newFull', but evaluates the value to weak head normal form.
newFull_ :: a -> Par (IVar a)
newFull_ x = act (Plain <$> (evaluate x >>= newWritten))

-- | The value of a variable. If the variable has not been written, the worker goes on with other
-- computations. If its task has not begun, the caller runs it, which costs a few function calls.
get :: IVar a -> Par a
get variable = Par $ \scope rest -> valueOf content >>= maybe (later scope rest) rest
  where
    content = variableOf variable
    later scope rest = do
      case variable of
        Plain _ -> pure ()
        Result _ task -> beginTask task
      valueOf content >>= maybe (wait content scope rest) rest

variableOf :: IVar a -> Variable a
variableOf (Plain variable) = variable
variableOf (Result variable _) = variable

-- | Evaluates a value completely, and writes it to the variable.
put :: NFData a => IVar a -> a -> Par ()
put variable = put_ variable . force

-- | As 'put', but evaluates the value to weak head normal form.
put_ :: IVar a -> a -> Par ()
put_ (Result _ _) _ = act (throwIO WrittenTwice)
put_ (Plain variable) x = act $ do
  first <- evaluate x >>= write variable
  unless first (throwIO WrittenTwice)

-- | Applies the function to all elements. The results are evaluated completely, in parallel.
parMap :: (Traversable t, NFData b) => (a -> b) -> t a -> Par (t b)
parMap f container = act (parEvaluate (force . f) container)
{-# INLINE parMap #-}

-- | As 'parMap', for functions that compute in parallel themselves.
parMapM :: (Traversable t, NFData b) => (a -> Par b) -> t a -> Par (t b)
parMapM f container = Par $ \scope rest -> do
  let element x = do
        variable <- newVariable
        let Par action = f x
        Plain variable <$ action scope (\y -> evaluate (force y) >>= void . write variable)
  variables <- parTraverse element container
  let Par results = traverse get variables
  results scope rest

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
      | to < from || distance from to < fromIntegral (max 1 threshold) = foldM (\sofar i -> body i >>= combine sofar >>= act . evaluate . force) neutral [from .. to]
      | otherwise = do
        let middle = from + fromIntegral (distance from to `quot` 2)
        later <- spawn_ (go (middle + 1) to)
        left <- go from middle
        get later >>= combine left
{-# INLINE parMapReduceRangeThresh #-}

-- | The second number less the first, 0 if it is smaller. It may exceed an 'Int'.
distance :: Int -> Int -> Word
distance from to = if to < from then 0 else fromIntegral to - fromIntegral from

-- | Runs the computation for all numbers of a range.
parFor :: InclusiveRange -> (Int -> Par ()) -> Par ()
parFor indices body = parMapReduceRange indices body (\_ _ -> pure ()) ()
