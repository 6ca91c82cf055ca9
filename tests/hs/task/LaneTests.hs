-- | Loops in which an index waits for lesser ones.
module LaneTests (tests) where

import Capstan.Exception (InvalidArgument)
import Capstan.Task
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List (isInfixOf)
import qualified Data.Vector.Unboxed as U
import qualified Data.Vector.Unboxed.Mutable as M
import GHC.Clock (getMonotonicTimeNSec)
import System.IO.Unsafe (unsafePerformIO)
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

newtype Broken = Broken Int deriving (Eq, Show)

instance Exception Broken

tests :: TestTree
tests =
  testGroup
    "loops in which an index waits for lesser ones"
    [ testProperty "each index once, and after what it waits for" $ \(Small from) (NonNegative count) distances ->
        ioProperty (inOrder (const id) from count (distances :: [NonNegative Int])),
      testProperty "where bodies give way to others" . withMaxSuccess 30 $ \count distances pauses ->
        ioProperty $ do
          let pause i = case (pauses :: [Int]) !! (i `mod` length pauses) `mod` 3 of
                0 -> pure ()
                1 -> yield
                _ -> threadDelay 1
          inOrder (\i -> if null pauses then id else (pause i >>)) 0 (getNonNegative count) distances,
      testProperty "in an order that follows from a seed" . withMaxSuccess 30 $ \seed (Small count) distances ->
        ioProperty (seeded seed (inOrder (const (switchPoint >>)) 0 (abs count `mod` 20) distances)),
      testCase "who stands still holds up one lane, and no other" $ do
        passed <- forM [0 .. 19] $ \seed -> seeded seed $ do
          others <- newIORef (0 :: Int)
          allRan <- newIORef False
          parallelForAfter (range 0 12) (const []) $ \i ->
            if i > 0
              then modifyIORef others (+ 1)
              else replicateM_ 300 switchPoint >> readIORef others >>= writeIORef allRan . (== 11)
          readIORef allRan
        assertBool "an index waited for one that it need not wait for" (or passed),
      testCase "a wave crosses a table" $
        forM_ [(1, 1), (1, 40), (40, 1), (30, 50)] $ \(rows, columns) -> do
          table <- M.replicate (rows * columns) (1 :: Int)
          let above i = [i - columns | i >= columns]
              left i = [i - 1 | i `rem` columns > 0]
          parallelForAfter (range 0 (rows * columns)) (\i -> above i ++ left i) $ \i -> do
            values <- mapM (M.read table) (above i ++ left i)
            unless (null values) (M.write table i (sum values `mod` 1000003))
          let row before = U.fromList (scanl (\x y -> (x + y) `mod` 1000003) (U.head before) (U.toList (U.tail before)))
          U.freeze table >>= (@?= U.concat (take rows (iterate row (U.replicate columns 1)))),
      testCase "who waits asks but a few times what for" $ do
        asked <- newIORef (0 :: Int)
        let before i = unsafePerformIO ([i - 1] <$ atomicModifyIORef' asked (\n -> (n + 1, ())))
            spin end = getMonotonicTimeNSec >>= \now -> when (now < end) (spin end)
        parallelForAfter (range 0 100) before (\_ -> getMonotonicTimeNSec >>= spin . (+ 200000))
        n <- readIORef asked
        assertBool (show n ++ " times for 100 indices") (n <= 800),
      testCase "a range that ends at the greatest Int" $ do
        sums <- newIORef (0 :: Int)
        parallelForAfter (range (maxBound - 3) maxBound) (\i -> [i - 1]) (\i -> modifyIORef sums (+ (maxBound - i)))
        readIORef sums >>= (@?= 6),
      testCase "more indices than an Int can say" . forM_ [-3, minBound] $ \from -> do
        r <- try (parallelForAfter (range from maxBound) (\i -> [i - 1 | i > from]) (\i -> when (i == from + 5) (throwIO (Broken i))))
        r @?= Left (Broken (from + 5)),
      testCase "empty and reversed ranges" $
        forM_ [range 0 0, range 5 3] $ \r ->
          parallelForAfter r (: []) (\_ -> assertFailure "an index of an empty range"),
      testCase "on a pool" . withPool "lanes" 2 $ \pool -> do
        done <- newIORef []
        parallelForAfter (onPool pool (range 0 50)) (\i -> [i - 1]) (\i -> modifyIORef done (i :))
        readIORef done >>= (@?= [49, 48 .. 0]),
      testCase "on a pool that has ended" . ends . replicateM_ 20 $ do
        pool <- withPool "ended" 2 pure
        done <- newIORef (0 :: Int)
        parallelForAfter (onPool pool (range 0 100)) (\i -> [i - 1]) (const (modifyIORef done (+ 1)))
        readIORef done >>= (@?= 100),
      testCase "on a pool of more than there are Capabilities" . ends . withPool "large" 16 $ \pool -> do
        done <- newIORef (0 :: Int)
        parallelForAfter (onPool pool (range 0 5000)) (\i -> [i - 1]) (const (modifyIORef done (+ 1)))
        readIORef done >>= (@?= 5000),
      testCase "an index that waits for itself, or for a greater one" $
        forM_ [0, 1] $ \ahead -> do
          r <- try (parallelForAfter (range 3 10) (\i -> [i + ahead | i == 7]) (\_ -> pure ()))
          case r of
            Left e -> assertBool (show e) ("7 would wait for" `isInfixOf` show (e :: InvalidArgument))
            Right () -> assertFailure "was accepted",
      testCase "a body that throws, while others wait for it" . ends . forM_ [0 .. 20] $ \n -> do
        r <- try (parallelForAfter (range 0 40) (\i -> [n | i > n]) (\i -> when (i == n) (yield >> throwIO (Broken n))))
        r @?= Left (Broken n),
      testCase "a deadline" . ends $ do
        never <- newEmptyMVar
        timeout 20000 (parallelForAfter (range 0 9) (\i -> [i - 1]) (\i -> when (i == 5) (takeMVar never))) >>= (@?= Nothing)
    ]

-- | Whether each index ran once, after all indices for which it waits. Index @i@ waits for the
-- indices that lie one of the distances below it.
inOrder :: (Int -> IO () -> IO ()) -> Int -> Int -> [NonNegative Int] -> IO Property
inOrder around from count distances = do
  marks <- M.replicate count (0 :: Int)
  wrong <- newIORef []
  let before i = [i - 1 - d | (k, NonNegative d) <- zip [0 ..] distances, (i + k) `mod` 3 > 0]
  parallelForAfter (range from (from + count)) before $ \i -> do
    seen <- mapM (M.read marks) [j - from | j <- before i, j >= from]
    unless (all (== 1) seen) (atomicModifyIORef' wrong (\is -> (i : is, ())))
    around i (M.modify marks (+ 1) (i - from))
  early <- readIORef wrong
  result <- U.freeze marks
  pure (early === [] .&&. result === U.replicate count 1)

ends :: Assertion -> Assertion
ends action = timeout 60000000 action >>= maybe (assertFailure "did not end") pure
