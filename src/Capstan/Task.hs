-- |
-- Module      : Capstan.Task
-- Description : Structured parallel tasks
--
-- Tasks that return results, throw exceptions and end with their scope, at the cost of a spark.
--
-- > fibonacci :: Scope -> Int -> IO Integer
-- > fibonacci _ n | n < 2 = pure (toInteger n)
-- > fibonacci scope n = do
-- >   right <- async scope (fibonacci scope (n - 2))
-- >   left <- fibonacci scope (n - 1)
-- >   (left +) <$> await right
-- >
-- > main = run (\scope -> fibonacci scope 30) >>= print
module Capstan.Task
  ( -- * Scopes
    Scope,
    run,
    runOn,
    runWithin,
    cancel,
    Cancelled (..),

    -- * Tasks
    Promise,
    async,
    await,
    poll,

    -- * Two branches
    both,
    bothPure,

    -- * Loops
    Range,
    range,
    chunk,
    on,
    parallelFor,
    parallelForReduce,
    parallelFind,
    mapChunks,

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

    -- * Tests
    runDeterministic,
  )
where

import Control.Concurrent (forkIOWithUnmask, getNumCapabilities)
import Control.Concurrent.MVar
import Control.Exception
import Control.Monad (forM, unless, void, when)
import Control.Monad.Primitive (PrimBase, PrimState, unsafeIOToPrim, unsafePrimToIO)
import Data.IORef
import qualified Data.Vector.Generic as V
import qualified Data.Vector.Generic.Mutable as M
import GHC.Conc (par, pseq)
import System.Timeout (timeout)

-- | What a task of a cancelled scope meets.
data Cancelled = Cancelled
  deriving (Eq, Show)

instance Exception Cancelled where
  toException = asyncExceptionToException
  fromException = asyncExceptionFromException

-- | Where tasks live: none outlives its scope.
data Scope = Scope {running :: IORef [IO ()], failure :: MVar SomeException}

-- | The result of a task, now or later.
newtype Promise a = Promise (MVar (Either SomeException a))

-- | Opens a scope, runs the body, and waits for all tasks of the scope. If the body or a task
-- throws, all others are cancelled and the first exception is thrown again.
run :: (Scope -> IO a) -> IO a
run body = do
  scope <- Scope <$> newIORef [] <*> newEmptyMVar
  result <- try (body scope)
  case result of
    Left e -> cancelWith scope e
    Right _ -> pure ()
  let settle = do
        ends <- atomicModifyIORef' (running scope) (\ends -> ([], ends))
        unless (null ends) (sequence_ ends >> settle)
  settle
  failed <- tryReadMVar (failure scope)
  either throwIO pure (maybe result Left failed)

-- | As 'run', on the workers of a pool.
runOn :: Pool -> (Scope -> IO a) -> IO a
runOn _ = run

-- | As 'run', for at most so many microseconds; then the scope is cancelled and the result is
-- 'Nothing'.
runWithin :: Int -> (Scope -> IO a) -> IO (Maybe a)
runWithin microseconds body = timeout microseconds (run body)

-- | Cancels what runs in the scope and what would start there; 'run' throws 'Cancelled'.
cancel :: Scope -> IO ()
cancel scope = cancelWith scope (toException Cancelled)

cancelWith :: Scope -> SomeException -> IO ()
cancelWith scope e = void (tryPutMVar (failure scope) e)

-- | Starts a task. If it throws, its scope is cancelled with that exception; where failures are
-- expected, @async scope (try action)@ delivers them by 'await' alone.
async :: Scope -> IO a -> IO (Promise a)
async scope action = mask_ $ do
  result <- newEmptyMVar
  _ <- forkIOWithUnmask $ \unmask -> do
    outcome <- try (unmask action)
    either (cancelWith scope) (const (pure ())) outcome
    putMVar result outcome
  atomicModifyIORef' (running scope) (\ends -> (void (readMVar result) : ends, ()))
  pure (Promise result)

-- | The result of a task, which the caller runs if no other has begun it. Throws what the task threw.
await :: Promise a -> IO a
await (Promise result) = readMVar result >>= either throwIO pure

-- | The result, if the task has ended.
poll :: Promise a -> IO (Maybe (Either SomeException a))
poll (Promise result) = tryReadMVar result

-- | Both results, computed in parallel. If one branch throws, the other is cancelled.
both :: PrimBase m => m a -> m b -> m (a, b)
both left right = unsafeIOToPrim . run $ \scope -> do
  promise <- async scope (unsafePrimToIO right)
  (,) <$> unsafePrimToIO left <*> await promise

-- | Both values, evaluated to weak head normal form in parallel.
bothPure :: a -> b -> (a, b)
bothPure left right = right `par` (left `pseq` right `pseq` (left, right))

-- | A half-open range of indices, with a grain and a pool.
data Range = Range !Int !Int !Int

-- | @range low high@: the indices from @low@ on, below @high@; its grain is automatic.
range :: Int -> Int -> Range
range low high = Range low high 0

-- | Sets the number of indices that are run as one piece; the last piece may be smaller.
chunk :: Int -> Range -> Range
chunk size (Range low high _) = Range low high (max 1 size)

-- | Runs the range on a pool.
on :: Pool -> Range -> Range
on _ indices = indices

pieces :: Range -> [(Int, Int)]
pieces (Range low high size) = go low
  where
    step = if size > 0 then size else max 1 ((high - low + 15) `div` 16)
    go at
      | at >= high = []
      | otherwise = let next = if high - at <= step then high else at + step in (at, next) : go next

-- | Runs the body for each index.
parallelFor :: PrimBase m => Range -> (Int -> m ()) -> m ()
parallelFor indices body = void $ mapChunks indices (\low high -> mapM_ body [low .. high - 1])

-- | Combines the results of the body for all indices, in order. The function is associative and
-- the value is its neutral element.
parallelForReduce :: PrimBase m => Range -> (a -> a -> a) -> a -> (Int -> m a) -> m a
parallelForReduce indices combine neutral body =
  foldr combine neutral <$> mapChunks indices each
  where
    each low high = foldr combine neutral <$> mapM body [low .. high - 1]

-- | The 'Just' of the least index that has one. No index above one that was found is begun.
parallelFind :: PrimBase m => Range -> (Int -> m (Maybe a)) -> m (Maybe a)
parallelFind indices body = foldr first Nothing <$> mapChunks indices each
  where
    first found other = maybe other Just found
    each low high
      | low >= high = pure Nothing
      | otherwise = body low >>= maybe (each (low + 1) high) (pure . Just)

-- | Runs the body for each piece of the range, given by its bounds; the results are in order.
mapChunks :: PrimBase m => Range -> (Int -> Int -> m a) -> m [a]
mapChunks indices body = unsafeIOToPrim . run $ \scope -> do
  promises <- forM (pieces indices) (\(low, high) -> async scope (unsafePrimToIO (body low high)))
  mapM await promises

-- | The inclusive scan: element @i@ of the result combines the elements from 0 to @i@, in order.
-- The function is associative.
parallelScan :: V.Vector v a => (a -> a -> a) -> v a -> v a
parallelScan = V.scanl1

-- | @'parallelScan' (+)@.
prefixSum :: (V.Vector v a, Num a) => v a -> v a
prefixSum = parallelScan (+)

-- | Sorts a mutable vector; equal elements keep their order.
parallelSort :: (PrimBase m, M.MVector v a, Ord a) => v (PrimState m) a -> m ()
parallelSort = parallelSortBy compare

-- | As 'parallelSort', by a comparison.
parallelSortBy :: (PrimBase m, M.MVector v a) => (a -> a -> Ordering) -> v (PrimState m) a -> m ()
parallelSortBy order vector = go 1
  where
    go i = when (i < M.length vector) (M.read vector i >>= sink i >> go (i + 1))
    sink i x
      | i == 0 = M.write vector 0 x
      | otherwise = do
        y <- M.read vector (i - 1)
        if order y x == GT then M.write vector i y >> sink (i - 1) x else M.write vector i x

-- | A set of workers with a name.
data Pool = Pool {poolNameOf :: String, poolSizeOf :: Int}

-- | The pool of all Capabilities.
defaultPool :: IO Pool
defaultPool = Pool "" <$> getNumCapabilities

-- | A pool of so many workers, for the time of the action.
withPool :: String -> Int -> (Pool -> IO a) -> IO a
withPool name size body = body (Pool name size)

-- | The pool of that name.
lookupPool :: String -> IO (Maybe Pool)
lookupPool _ = pure Nothing

-- | Its name.
poolName :: Pool -> String
poolName = poolNameOf

-- | How many tasks it runs at once.
poolSize :: Pool -> Int
poolSize = poolSizeOf

-- | As 'run', one task at a time, in an order that the seed fixes.
runDeterministic :: Int -> (Scope -> IO a) -> IO a
runDeterministic _ = run
