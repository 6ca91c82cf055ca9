-- |
-- Module      : Capstan.Bench.Tree
-- Description : Benchmarks by name: listing, ordering and visiting a tree of groups and environments.
--
-- Environments are made and cleaned as criterion does it: when the first benchmark inside is about to
-- run, and after the last one.
module Capstan.Bench.Tree
  ( names,
    uniquely,
    Order (..),
    inOrder,
    shuffled,
    visit,
  )
where

import Control.DeepSeq (rnf)
import Control.Exception (evaluate, finally)
import Control.Monad (forM_, when)
import Criterion.Measurement.Types (Benchmark (..), Benchmarkable, addPrefix, benchNames)
import Data.Bits (shiftR, xor)
import Data.Char (ord)
import Data.List (mapAccumL, sortOn)
import qualified Data.List as List
import qualified Data.Map.Strict as Map
import Data.Word (Word64)

-- | The full names, in the order of the list of benchmarks.
names :: [Benchmark] -> [String]
names = concatMap benchNames

-- | Gives each benchmark a unique name: the second benchmark with the same name gets the suffix @
-- (2)@.
uniquely :: [Benchmark] -> [Benchmark]
uniquely = snd . mapAccumL (rename "") Map.empty
  where
    rename prefix seen b = (List.foldl' (\m n -> Map.insertWith (+) (addPrefix prefix n) (1 :: Int) m) seen (benchNames b), renamed prefix seen b)
    renamed prefix seen b = case b of
      Benchmark name run -> case Map.lookup (addPrefix prefix name) seen of
        Just n -> Benchmark (name ++ " (" ++ show (n + 1) ++ ")") run
        Nothing -> b
      BenchGroup name bs -> BenchGroup name (snd (mapAccumL (rename (addPrefix prefix name)) seen bs))
      Environment make clean inside -> Environment make clean (renamed prefix seen . inside)

-- | An order of execution.
data Order = Declared | Reversed | Shuffled Word64
  deriving (Eq, Show, Read)

-- | Orders the members of each group. A group stays together, and so do the benchmarks of an
-- environment.
inOrder :: Order -> [Benchmark] -> [Benchmark]
inOrder order = arrange . map inside
  where
    arrange = case order of
      Declared -> id
      Reversed -> reverse
      Shuffled seed -> shuffled seed (concat . take 1 . benchNames)
    inside (BenchGroup name bs) = BenchGroup name (inOrder order bs)
    inside (Environment make clean f) = Environment make clean (inside . f)
    inside b = b

-- | An order that depends only on the seed and the names.
shuffled :: Word64 -> (a -> String) -> [a] -> [a]
shuffled seed name = sortOn (List.foldl' step (mix seed) . name)
  where
    step h c = mix (h `xor` fromIntegral (ord c))

-- | A mixing step (Steele, Lea and Flood's SplitMix).
mix :: Word64 -> Word64
mix x = z2 `xor` (z2 `shiftR` 31)
  where
    z0 = x + 0x9e3779b97f4a7c15
    z1 = (z0 `xor` (z0 `shiftR` 30)) * 0xbf58476d1ce4e5b9
    z2 = (z1 `xor` (z1 `shiftR` 27)) * 0x94d049bb133111eb

-- | Runs an action for each benchmark whose full name is wanted, in order.
visit :: (String -> Bool) -> (String -> Benchmarkable -> IO ()) -> [Benchmark] -> IO ()
visit wanted act bs = forM_ bs (go "")
  where
    go prefix b = case b of
      Benchmark name run -> let full = addPrefix prefix name in when (wanted full) (act full run)
      BenchGroup name inside -> mapM_ (go (addPrefix prefix name)) inside
      Environment make clean f -> when (any (wanted . addPrefix prefix) (benchNames b)) $ do
        e <- make
        evaluate (rnf e)
        go prefix (f e) `finally` clean e
