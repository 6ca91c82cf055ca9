{-# LANGUAGE ExistentialQuantification #-}

-- | What an example is: a computation written twice, sequentially and with tasks.
module Example
  ( Example (..),
    Sizes,
    Each,
    loop,
    total,
    randoms,
  )
where

import qualified Data.Vector.Unboxed as V

-- | How large the problem is; each example says what its numbers mean.
type Sizes = [Int]

-- | The input is made anew before each run and may be changed by it. Both versions return the very
-- same result, fully evaluated.
data Example = forall input result.
  (Eq result) =>
  Example
  { name :: String,
    -- | What the sizes are, for the user.
    sizeNames :: String,
    -- | What is measured.
    usual :: Sizes,
    -- | What is tested.
    small :: Sizes,
    prepare :: Sizes -> IO input,
    sequential :: input -> IO result,
    parallel :: input -> IO result
  }

-- | A loop over the indices from 0, below a number: one after another, or by tasks.
type Each = Int -> (Int -> IO ()) -> IO ()

-- | Runs the body for the indices from the first, below the second.
loop :: Monad m => Int -> Int -> (Int -> m ()) -> m ()
loop low high body = go low
  where
    go i
      | i >= high = pure ()
      | otherwise = body i >> go (i + 1)
{-# INLINE loop #-}

-- | The sum of the values for the indices from the first, below the second.
total :: Int -> Int -> (Int -> Double) -> Double
total low high value = go low 0
  where
    go i acc
      | i >= high = acc
      | otherwise = go (i + 1) (acc + value i)
{-# INLINE total #-}

-- | So many numbers below 2^32 that look random (a linear congruential generator).
randoms :: Int -> V.Vector Int
randoms n = V.map (`div` 65536) (V.iterateN n (\x -> (x * 25214903917 + 11) `mod` 281474976710656) 42)
