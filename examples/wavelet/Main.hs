-- | A wavelet transform in C, C with OpenMP, vector, repa and Capstan.Task. The program first
-- compares all results, and then times all implementations. It does not use the main thread for
-- that: the main thread is bound to its own OS thread, and the other threads take turns with it.
-- @wavelet --check@ only compares.
module Main (main) where

import Capstan.Bench
import Control.Concurrent (runInUnboundThread)
import Control.Monad (forM_, when)
import qualified Data.Vector.Storable as V
import Lattice
import System.Environment (getArgs)
import System.Exit (die)

main :: IO ()
main = do
  arguments <- getArgs
  if "--check" `elem` arguments then verify >> putStrLn "all agree" else runInUnboundThread (defaultMain [group "lattice" single 65536, group "transform" whole 65536])
  where
    group title run n = env (pure (signal n)) $ \input ->
      bgroup title [bench (name i) (whnfIO (run i input)) | i <- implementations]

-- | Checks that all implementations agree with C. The transform keeps the energy, and a second
-- lattice with the layers in reverse order would undo the first. Sizes are small and large, so that
-- both the serial and the parallel paths run.
verify :: IO ()
verify = forM_ [4, 8, 64, 1024, 65536, 1048576] $ \n -> do
  let input = signal n
  forM_ [("lattice", single), ("transform", whole)] $ \(what, run) -> do
    results@(reference : _) <- mapM (`run` input) implementations
    forM_ (zip implementations results) $ \(i, result) -> do
      when (V.length result /= n) (die (unwords [name i, what, show n, "has another length"]))
      when (distance result reference > 1e-12) (die (unwords [name i, what, show n, "differs from C by", show (distance result reference)]))
      when (abs (energy result / energy input - 1) > 1e-9) (die (unwords [name i, what, show n, "does not keep the energy"]))
      when (distance result input < 1e-3) (die (unwords [name i, what, show n, "does nothing"]))
  where
    distance a b = V.maximum (V.zipWith (\x y -> abs (x - y)) a b)
    energy = V.sum . V.map (\x -> x * x)
