-- | The Haskell of docs/tasks.md, which 'MigrationTests' compares with that page and runs.
module Migration where

import Capstan.Chan
import Capstan.Task
import qualified Control.Concurrent.Async as Async
import Control.Monad (filterM, when)
import Control.Parallel (par, pseq)
import qualified Control.Parallel.Strategies as Strategies
import Data.Char (ord)
import Data.IORef (modifyIORef', newIORef, readIORef)
import qualified Data.Vector as Vector

-- | Something to do with a file.
checksum :: FilePath -> IO Int
checksum file = sum . map ord <$> readFile file

-- Before: Control.Parallel.
nfib :: Int -> Int
nfib n
  | n < 2 = 1
  | otherwise = right `par` (left `pseq` left + right)
  where
    left = nfib (n - 1)
    right = nfib (n - 2)

-- After.
nfibTasks :: Int -> Int
nfibTasks n
  | n < 2 = 1
  | otherwise = case bothPure (nfibTasks (n - 1)) (nfibTasks (n - 2)) of
    (left, right) -> left + right

-- Before: parMap rdeepseq f xs.
mapped :: (Int -> [Int]) -> [Int] -> [[Int]]
mapped = Strategies.parMap Strategies.rdeepseq

-- After.
mappedTasks :: (Int -> [Int]) -> [Int] -> [[Int]]
mappedTasks = parMap

-- Before: Control.Concurrent.Async.
sizes :: FilePath -> FilePath -> IO (Int, Int)
sizes a b = Async.concurrently (length <$> readFile a) (length <$> readFile b)

-- After.
sizesTasks :: FilePath -> FilePath -> IO (Int, Int)
sizesTasks a b = both (length <$> readFile a) (length <$> readFile b)

-- Before.
checksums :: [FilePath] -> IO [Int]
checksums files = Async.forConcurrently files checksum

-- After.
checksumsTasks :: [FilePath] -> IO [Int]
checksumsTasks files = parFor files checksum

-- let sum = T.parallel_for_reduce pool (+.) 0. ~start:0 ~finish:(n - 1) ~body:(fun i -> a.(i) *. b.(i))
dot :: Vector.Vector Double -> Vector.Vector Double -> IO Double
dot a b = parallelForReduce (range 0 (Vector.length a)) (+) 0 (\i -> pure (a Vector.! i * b Vector.! i))

-- After.
fib :: Int -> IO Int
fib n
  | n < 2 = pure n
  | otherwise = uncurry (+) <$> both (fib (n - 1)) (fib (n - 2))

-- Stages that run at the same time, ten items apart at most.
pipeline :: [Int] -> IO Int
pipeline numbers = run $ \scope -> do
  squares <- newBounded 10
  _ <- async scope (mapM_ (\x -> send squares (x * x)) numbers >> close squares)
  let total acc = recvMaybe squares >>= maybe (pure acc) (\x -> total $! acc + x)
  total 0

-- The total of the items until a tenth of a second brings none, or until the end.
untilQuiet :: Chan Int -> IO Int
untilQuiet items = total 0
  where
    total acc = recvWithin (milliseconds 100) items >>= next acc
    next acc (Item x) = total $! acc + x
    next acc _ = pure acc

-- Two transfers from one account: each looks whether there is enough, and then takes it.
transfers :: IO Int
transfers = do
  account <- newIORef 100
  let transfer amount = do
        balance <- readIORef account
        switchPoint
        when (balance >= amount) (modifyIORef' account (subtract amount))
  _ <- both (transfer 70) (transfer 60)
  readIORef account

-- The seeds with which the account is overdrawn: each of them shows it again.
overdrawn :: IO [Int]
overdrawn = filterM (\seed -> (< 0) <$> seeded seed transfers) [0 .. 99]
