-- | The loop of section 9.5 in Haskell. Inlined, so that the code generator of the module that names it
-- compiles it.
module Loop (sines) where

{- HLINT ignore "Redundant lambda" -}

-- | The sum of the sines of thousandths. An action, or the compiler would compute it once for many calls.
-- Without parameters to the left of @=@, as it is to be inlined where none are given.
sines :: Int -> Int -> IO Double
sines = \from to ->
  let go :: Int -> Double -> Double
      go i total
        | i >= to = total
        | otherwise = go (i + 1) (total + sin (fromIntegral i * 1e-3))
   in pure $! go from 0
{-# INLINE sines #-}
