-- | The loop of section 9.5 in Haskell. A file of its own, so that another code generator can be chosen
-- for it.
module Loop (sines) where

-- | The sum of the sines of thousandths. An action, or the compiler would compute it once for many calls.
sines :: Int -> Int -> IO Double
sines from to = pure $! go from 0
  where
    go :: Int -> Double -> Double
    go i total
      | i >= to = total
      | otherwise = go (i + 1) (total + sin (fromIntegral i * 1e-3))
{-# NOINLINE sines #-}
