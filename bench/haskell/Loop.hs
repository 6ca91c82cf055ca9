-- | The loop of section 9.5 in Haskell. It is inlined, so that the code generator of the importing
-- module compiles it.
module Loop (sines) where

{- HLINT ignore "Redundant lambda" -}

-- | The sum of the sines of thousandths. It is an action, as the compiler would compute a value
-- once for many calls. It has no parameters to the left of @=@, so that it is inlined where it is
-- used without arguments.
sines :: Int -> Int -> IO Double
sines = \from to ->
  let go :: Int -> Double -> Double
      go i total
        | i >= to = total
        | otherwise = go (i + 1) (total + sin (fromIntegral i * 1e-3))
   in pure $! go from 0
{-# INLINE sines #-}
