-- | A matrix transposed by tiles, so that the lines of memory that are read are read again while they are near.
module Loops.Tiles.Port (program) where

import Capstan.Task (along, chunk, crossing, parallelForGrid, range)
import qualified Data.Vector.Unboxed as Vector
import qualified Data.Vector.Unboxed.Mutable as Mutable

program :: Int -> IO Int
program size = do
  result <- Mutable.new (size * size)
  let side = chunk 32 (range 0 size)
  parallelForGrid (along side `crossing` side) $ \(i, j) ->
    Mutable.unsafeWrite result (i * size + j) (matrix Vector.! (j * size + i))
  Vector.ifoldl' (\whole k x -> (whole + k * x) `mod` 1000003) 0 <$> Vector.unsafeFreeze result
  where
    matrix = Vector.generate (size * size) (\k -> k * k `mod` 1009)
