-- | A matrix transposed by tiles, so that the lines of memory that are read are read again while they are near.
module Loops.Tiles.Original (program) where

import Control.Monad (forM_)
import Control.Scheduler (Comp (..), scheduleWork_, withScheduler_)
import qualified Data.Vector.Unboxed as Vector
import qualified Data.Vector.Unboxed.Mutable as Mutable

program :: Int -> IO Int
program size = do
  result <- Mutable.new (size * size)
  withScheduler_ Par $ \scheduler ->
    forM_ [0, 32 .. size - 1] $ \top -> forM_ [0, 32 .. size - 1] $ \left ->
      scheduleWork_ scheduler $
        forM_ [top .. min size (top + 32) - 1] $ \i -> forM_ [left .. min size (left + 32) - 1] $ \j ->
          Mutable.unsafeWrite result (i * size + j) (matrix Vector.! (j * size + i))
  Vector.ifoldl' (\whole k x -> (whole + k * x) `mod` 1000003) 0 <$> Vector.unsafeFreeze result
  where
    matrix = Vector.generate (size * size) (\k -> k * k `mod` 1009)
