{-# LANGUAGE LambdaCase #-}

-- | A pipeline whose stages are joined by lists that are filled while they are read.
module Par.Stream.Original (program) where

import Control.DeepSeq (NFData (..))
import Control.Monad.Par (IVar, Par, fork, get, new, put, runPar)

data Stream
  = End
  | Item !Int (IVar Stream)

instance NFData Stream where
  rnf End = ()
  rnf (Item n rest) = n `seq` rest `seq` ()

program :: Int -> IO Int
program count = pure $! runPar (numbers count >>= stage (* 3) >>= stage (\n -> n * n `mod` 1009) >>= total 0)

numbers :: Int -> Par (IVar Stream)
numbers count = do
  start <- new
  fork (fill start 1)
  pure start
  where
    fill here n
      | n > count = put here End
      | otherwise = do
        rest <- new
        put here (Item n rest)
        fill rest (n + 1)

stage :: (Int -> Int) -> IVar Stream -> Par (IVar Stream)
stage f from = do
  start <- new
  fork (follow from start)
  pure start
  where
    follow source here =
      get source >>= \case
        End -> put here End
        Item n later -> do
          rest <- new
          put here (Item (f n) rest)
          follow later rest

total :: Int -> IVar Stream -> Par Int
total sofar from =
  get from >>= \case
    End -> pure sofar
    Item n later -> let sofar' = sofar + n in sofar' `seq` total sofar' later
