-- | How many steps each point of a picture takes to leave the circle.
module Domainslib.Mandelbrot.Port (program) where

import Capstan.Task
import Control.Monad (forM_)
import qualified Data.Vector.Unboxed as Vector
import qualified Data.Vector.Unboxed.Mutable as Mutable

escape :: Double -> Double -> Int
escape x y = go 0 0 0
  where
    go :: Int -> Double -> Double -> Int
    go k re im = if k >= 200 || re * re + im * im > 4 then k else go (k + 1) (re * re - im * im + x) (2 * re * im + y)

program :: Int -> IO Int
program size = do
  picture <- Mutable.new (size * size)
  let at k = fromIntegral k / fromIntegral size
  parallelFor (range 0 size) $ \i ->
    forM_ [0 .. size - 1] $ \j ->
      Mutable.write picture (size * i + j) (escape (3 * at j - 2) (3 * at i - 1.5))
  Vector.sum <$> Vector.unsafeFreeze picture
