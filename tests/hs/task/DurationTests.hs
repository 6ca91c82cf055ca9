-- | "Capstan.Duration".
module DurationTests (tests) where

import Capstan.Duration
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "durations"
    [ testCase "units" $
        map toNanoseconds [nanoseconds 7, microseconds 7, milliseconds 7, seconds 7] @?= [7, 7000, 7000000, 7000000000],
      testCase "a negative number is none" $
        map ($ minBound) [nanoseconds, microseconds, milliseconds, seconds] @?= replicate 4 mempty,
      testCase "what is too long is the longest" $ do
        map ($ maxBound) [microseconds, milliseconds, seconds] @?= replicate 3 unlimited
        seconds 18446744073 < unlimited @?= True
        seconds 18446744074 @?= unlimited
        unlimited <> nanoseconds 1 @?= unlimited
        seconds 1 <> milliseconds 500 @?= milliseconds 1500,
      testCase "differences" $ do
        seconds 3 `since` seconds 1 @?= seconds 2
        seconds 1 `since` seconds 3 @?= mempty,
      testCase "microseconds, rounded up" $
        map toMicroseconds [mempty, nanoseconds 1, nanoseconds 1000, nanoseconds 1001] @?= [0, 1, 1, 2],
      testCase "shown as they are made" $
        map Just [mempty, seconds 90, milliseconds 1500, microseconds 20, nanoseconds 1001, unlimited]
          `shown` "[Just (seconds 0),Just (seconds 90),Just (milliseconds 1500),Just (microseconds 20),Just (nanoseconds 1001),Just unlimited]"
    ]
  where
    shown durations text = show durations @?= text
