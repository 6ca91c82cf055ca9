{-# LANGUAGE TemplateHaskell #-}
{-# OPTIONS_GHC -O1 -fplugin Test.Inspection.Plugin #-}

-- | If the compiler knows the type of the numbers, C computes their prefix sums.
module RuleTests (tests) where

import Capstan.Task (prefixSum)
import Data.Int (Int16, Int32, Int64)
import qualified Data.Vector.Storable as S
import qualified Data.Vector.Unboxed as U
import Data.Word (Word32, Word64)
import Test.Inspection
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit (assertFailure, testCase)

unboxedInt :: U.Vector Int -> U.Vector Int
unboxedInt = prefixSum

unboxedInt32 :: U.Vector Int32 -> U.Vector Int32
unboxedInt32 = prefixSum

unboxedInt64 :: U.Vector Int64 -> U.Vector Int64
unboxedInt64 = prefixSum

unboxedWord :: U.Vector Word -> U.Vector Word
unboxedWord = prefixSum

unboxedWord32 :: U.Vector Word32 -> U.Vector Word32
unboxedWord32 = prefixSum

unboxedWord64 :: U.Vector Word64 -> U.Vector Word64
unboxedWord64 = prefixSum

unboxedFloat :: U.Vector Float -> U.Vector Float
unboxedFloat = prefixSum

unboxedDouble :: U.Vector Double -> U.Vector Double
unboxedDouble = prefixSum

storableInt :: S.Vector Int -> S.Vector Int
storableInt = prefixSum

storableInt32 :: S.Vector Int32 -> S.Vector Int32
storableInt32 = prefixSum

storableInt64 :: S.Vector Int64 -> S.Vector Int64
storableInt64 = prefixSum

storableWord :: S.Vector Word -> S.Vector Word
storableWord = prefixSum

storableWord32 :: S.Vector Word32 -> S.Vector Word32
storableWord32 = prefixSum

storableWord64 :: S.Vector Word64 -> S.Vector Word64
storableWord64 = prefixSum

storableFloat :: S.Vector Float -> S.Vector Float
storableFloat = prefixSum

storableDouble :: S.Vector Double -> S.Vector Double
storableDouble = prefixSum

-- | C has no function for these numbers.
otherNumbers :: U.Vector Int16 -> U.Vector Int16
otherNumbers = prefixSum

tests :: TestTree
tests =
  testGroup
    "prefix sums"
    [ testCase "by C, of vectors of the usual numbers" $
        mapM_
          replaced
          [ $(inspectTest ('unboxedInt `hasNoType` ''Maybe)),
            $(inspectTest ('unboxedInt32 `hasNoType` ''Maybe)),
            $(inspectTest ('unboxedInt64 `hasNoType` ''Maybe)),
            $(inspectTest ('unboxedWord `hasNoType` ''Maybe)),
            $(inspectTest ('unboxedWord32 `hasNoType` ''Maybe)),
            $(inspectTest ('unboxedWord64 `hasNoType` ''Maybe)),
            $(inspectTest ('unboxedFloat `hasNoType` ''Maybe)),
            $(inspectTest ('unboxedDouble `hasNoType` ''Maybe)),
            $(inspectTest ('storableInt `hasNoType` ''Maybe)),
            $(inspectTest ('storableInt32 `hasNoType` ''Maybe)),
            $(inspectTest ('storableInt64 `hasNoType` ''Maybe)),
            $(inspectTest ('storableWord `hasNoType` ''Maybe)),
            $(inspectTest ('storableWord32 `hasNoType` ''Maybe)),
            $(inspectTest ('storableWord64 `hasNoType` ''Maybe)),
            $(inspectTest ('storableFloat `hasNoType` ''Maybe)),
            $(inspectTest ('storableDouble `hasNoType` ''Maybe))
          ],
      testCase "in Haskell, of others" $ case $(inspectTest ('otherNumbers `hasNoType` ''Maybe)) of
        Success _ -> assertFailure "no trace of a scan in Haskell was found"
        Failure _ -> pure ()
    ]
  where
    replaced result = case result of
      Success _ -> pure ()
      Failure why -> assertFailure why
