-- | Blocks are loaded while the ones before them are worked on.
module Async.Prefetch.Port (program) where

import Capstan.Task (async, await, run)
import Control.Exception (evaluate)
import qualified Data.Vector.Unboxed as Vector

program :: Int -> IO Int
program count = load 0 >>= go 0 1
  where
    go total number block
      | number > count = digest total block
      | otherwise = do
        (total', next) <- run $ \scope -> do
          loading <- async scope (load number)
          total' <- digest total block
          next <- await loading
          pure (total', next)
        go total' (number + 1) next

load :: Int -> IO (Vector.Vector Int)
load number = evaluate (Vector.iterateN 200 (\x -> (x * 1103515245 + 12345) `mod` 2147483648) number)

digest :: Int -> Vector.Vector Int -> IO Int
digest total block = evaluate (Vector.foldl' (\acc x -> (acc * 31 + x) `mod` 1000003) total block)
