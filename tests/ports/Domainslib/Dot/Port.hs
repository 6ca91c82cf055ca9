-- | The scalar product of two vectors.
module Domainslib.Dot.Port (program) where

import Capstan.Task
import Data.Vector.Unboxed (Vector, generate, (!))

program :: Int -> IO Int
program count = do
  let a = generate count (\i -> fromIntegral (i `mod` 7)) :: Vector Double
      b = generate count (\i -> fromIntegral (i `mod` 11))
  product' <- parallelForReduce (range 0 count) (+) 0 (\i -> pure (a ! i * b ! i))
  pure (truncate product')
