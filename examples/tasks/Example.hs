{-# LANGUAGE ExistentialQuantification #-}

-- | An example is a computation that is written twice, sequentially and with tasks.
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

-- | The size of the problem; each example defines the meaning of its numbers.
type Sizes = [Int]

-- | An example. The input is made anew before each run, which may change it. Both versions return
-- the same result, fully evaluated.
data Example = forall input result.
  (Eq result) =>
  Example
  { name :: String,
    -- | The names of the sizes, for the user.
    sizeNames :: String,
    -- | The sizes for measurements.
    usual :: Sizes,
    -- | The sizes for tests.
    small :: Sizes,
    prepare :: Sizes -> IO input,
    sequential :: input -> IO result,
    parallel :: input -> IO result
  }

-- | A loop over the indices from 0 to below a number: one after another, or by tasks.
type Each = Int -> (Int -> IO ()) -> IO ()

-- | Runs the body for the indices from the first number to below the second.
loop :: Monad m => Int -> Int -> (Int -> m ()) -> m ()
loop low high body = go low
  where
    go i
      | i >= high = pure ()
      | otherwise = body i >> go (i + 1)
{-# INLINE loop #-}

-- | The sum of the values for the indices from the first number to below the second.
total :: Int -> Int -> (Int -> Double) -> Double
total low high value = go low 0
  where
    go i acc
      | i >= high = acc
      | otherwise = go (i + 1) (acc + value i)
{-# INLINE total #-}

-- | A number of values below 2^32 that look random (a linear congruential generator).
randoms :: Int -> V.Vector Int
randoms n = V.map (`div` 65536) (V.iterateN n (\x -> (x * 25214903917 + 11) `mod` 281474976710656) 42)
