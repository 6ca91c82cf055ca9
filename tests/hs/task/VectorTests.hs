{-# LANGUAGE ScopedTypeVariables #-}

-- | Scans and sorts against their sequential versions.
module VectorTests (tests) where

import Capstan.Task
import Capstan.Task.Vector.Sums (Summand, storableSums, unboxedSums)
import Control.Monad.ST (runST)
import Data.Int (Int32, Int64)
import Data.List (sortOn)
import qualified Data.Vector as B
import qualified Data.Vector.Primitive as P
import qualified Data.Vector.Storable as S
import qualified Data.Vector.Unboxed as U
import Data.Word (Word32, Word64)
import Foreign (sizeOf)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

-- | Composition of linear functions: associative, not commutative.
compose :: (Int, Int) -> (Int, Int) -> (Int, Int)
compose (a, b) (c, d) = (a * c, b * c + d)

long :: Int -> [Int]
long seed = take (20000 + abs seed `mod` 999) (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648) (abs seed))

tests :: TestTree
tests =
  testGroup
    "vectors"
    [ testProperty "a short scan" $ \xs ->
        U.toList (parallelScan compose (U.fromList xs)) === scanl1 compose xs,
      testProperty "a long scan does not exchange operands" . withMaxSuccess 20 $ \seed ->
        let xs = zip (map (`mod` 3) (long seed)) (long (seed + 1))
         in U.toList (parallelScan compose (U.fromList xs)) === scanl1 compose xs,
      testProperty "prefix sums" . withMaxSuccess 20 $ \seed ->
        let xs = long seed
            sums = scanl1 (+) xs
         in U.toList (prefixSum (U.fromList xs)) === sums
              .&&. S.toList (prefixSum (S.fromList xs)) === sums
              .&&. B.toList (prefixSum (B.fromList xs)) === sums,
      testCase "scans of sizes about the number of blocks" $
        mapM_
          (\n -> prefixSum (U.replicate n 1) @?= U.generate n (+ 1))
          ([0 .. 70] ++ [4090 .. 4130] ++ [8191, 8192, 8193]),
      testCase "sums of all numbers that C adds up, in parts of vectors" $ do
        agree (0 :: Int)
        agree (0 :: Int32)
        agree (0 :: Int64)
        agree (0 :: Word)
        agree (0 :: Word32)
        agree (0 :: Word64)
        agree (0 :: Float)
        agree (0 :: Double),
      testCase "sums from all over a page" $ do
        fromPlaces (0 :: Int32)
        fromPlaces (0 :: Double),
      testCase "sums that no cache holds" $ do
        unboxedSums (P.replicate 2000001 1) @?= P.enumFromN (1 :: Int) 2000001
        storableSums (S.replicate 4000001 1) @?= S.enumFromN (1 :: Float) 4000001,
      testCase "sums of zeros keep their sign" $
        assertBool "some are positive" (P.all isNegativeZero (unboxedSums (P.generate 10000 (\i -> negate (fromIntegral (i `quot` 20000) :: Double))))),
      testProperty "a short sort" $ \xs -> sorted xs === sortOn fst (xs :: [(Int, Int)]),
      testProperty "a long sort is stable" . withMaxSuccess 20 $ \seed ->
        let xs = zip (map (`mod` 100) (long seed)) [0 ..] in sorted xs === sortOn fst xs,
      testCase "sorts of sizes about the pieces" $
        mapM_ (\n -> let xs = zip (take n (long n)) [0 ..] in sorted xs @?= sortOn fst xs) ([0 .. 50] ++ [2040 .. 2052] ++ [4097]),
      testCase "a sort of the sorted and of the reversed" $ do
        let ascending = zip [1 .. 30000] (repeat 0)
        sorted ascending @?= ascending
        sorted (reverse ascending) @?= ascending
    ]

-- | Checks the sums of some numbers from the middle of a vector, which no type rounds.
agree :: forall a. (Summand a, Eq a, Show a) => a -> Assertion
agree _ = mapM_ check [0, 1, 2, 7, 400, 4095, 4096, 4097, 20011, 69990]
  where
    numbers = P.generate 70000 (\i -> fromIntegral (i * i `mod` 23)) :: P.Vector a
    check n = do
      let xs = P.slice 5 n numbers
          expected = P.postscanl' (+) 0 xs
      P.toList (unboxedSums xs) @?= P.toList expected
      S.toList (storableSums (S.convert xs)) @?= P.toList expected

-- | Checks sums of numbers that begin at each third place in a page of 4096 bytes. The C code begins with
-- the later block at another place for each. The last block has five numbers.
fromPlaces :: forall a. (Summand a, Eq a, Show a) => a -> Assertion
fromPlaces _ = mapM_ check [0, 3 .. places - 1]
  where
    places = 4096 `quot` sizeOf (0 :: a)
    numbers = P.generate (4101 + places) (\i -> fromIntegral (i * i `mod` 23)) :: P.Vector a
    check place = do
      let xs = P.slice place 4101 numbers
      assertBool ("from " ++ show place) (unboxedSums xs == P.postscanl' (+) 0 xs)

sorted :: [(Int, Int)] -> [(Int, Int)]
sorted xs = U.toList $
  runST $ do
    v <- U.thaw (U.fromList xs)
    parallelSortBy (\a b -> compare (fst a) (fst b)) v
    U.unsafeFreeze v
