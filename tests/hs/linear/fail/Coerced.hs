{-# LANGUAGE CPP #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
-- expect: match type
-- | One part cannot be coerced into another.
module Main (main) where

import qualified Capstan.Array.Linear as Linear
import Data.Coerce (coerce)

convert :: Linear.Part s Double -> Linear.Part t Double
#ifdef MISUSE
convert = coerce
#else
convert = convert
  where
    _ = coerce :: Age -> Int
#endif

newtype Age = Age Int

main :: IO ()
main = print (coerce (Age 1) :: Int)
  where
    _ = convert
