-- | "Capstan.Vector" against the functions of @vector@, and "Capstan.Task.Lifted".
module ParallelVectorTests (tests) where

import Capstan.Task (chunk, range)
import qualified Capstan.Task.Lifted as Lifted
import qualified Capstan.Vector as Parallel
import Control.Exception
import Control.Monad (replicateM, void)
import Control.Monad.IO.Class (liftIO)
import Control.Monad.Trans.Reader (ask, asks, local, runReaderT)
import Data.IORef
import Data.List (nub, sort)
import qualified Data.Vector as B
import qualified Data.Vector.Primitive as P
import qualified Data.Vector.Storable as S
import qualified Data.Vector.Unboxed as U
import GHC.Float (castDoubleToWord64)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

-- | Lengths of short vectors, and one length whose work is shared.
sizes :: [Int]
sizes = [0, 1, 2, 511, 513, 200003]

tests :: TestTree
tests =
  testGroup
    "parallel vectors"
    [ testCase "generate" $ do
        mapM_ (\n -> Parallel.generate n (* 3) @?= U.generate n (* 3)) sizes
        mapM_ (\n -> Parallel.generate n (* 3) @?= S.generate n (* 3)) sizes
        mapM_ (\n -> Parallel.generate n (* 3) @?= P.generate n (* 3)) sizes
        mapM_ (\n -> Parallel.generate n show @?= B.generate n show) sizes
        Parallel.generate (-1) id @?= (U.empty :: U.Vector Int),
      testProperty "map, imap and zipWith" $ \xs ys ->
        let (us, vs) = (U.fromList xs, U.fromList (ys :: [Int]))
         in Parallel.map even us === U.map even us
              .&&. Parallel.imap (-) us === U.imap (-) us
              .&&. Parallel.zipWith (\x y -> x - 2 * y) us vs === U.zipWith (\x y -> x - 2 * y) us vs
              .&&. Parallel.izipWith (\i x y -> i * x - y) us vs === U.izipWith (\i x y -> i * x - y) us vs,
      testCase "map, imap and zipWith of long ones" $ do
        let us = U.enumFromN (1 :: Int) 300000
        Parallel.map (+ 1) us @?= U.map (+ 1) us
        Parallel.imap (*) us @?= U.imap (*) us
        Parallel.zipWith (-) us (U.drop 7 us) @?= U.zipWith (-) us (U.drop 7 us),
      testProperty "filter" $ \xs -> Parallel.filter odd (U.fromList xs) === U.filter odd (U.fromList (xs :: [Int])),
      testCase "filter of long ones" . (`mapM_` sizes) $ \n -> do
        let bs = B.generate n (\i -> i * i `rem` 1009)
        Parallel.filter (< 500) bs @?= B.filter (< 500) bs
        Parallel.filter (const False) bs @?= B.empty,
      testCase "fold keeps the order" $ do
        Parallel.fold (++) [] (B.generate 3000 pure) @?= [0 .. 2999 :: Int]
        Parallel.mapReduce max minBound negate (U.enumFromN (5 :: Int) 100000) @?= (-5),
      testCase "sums have the same bits" $ do
        zero <- newIORef 0
        found <- replicateM 12 $ do
          z <- readIORef zero
          pure $! castDoubleToWord64 (Parallel.fold (+) 0 (Parallel.generate 500000 (\i -> 1 / fromIntegral (i + 1 + z)) :: U.Vector Double))
        length (nub found) @?= 1,
      testCase "elements are evaluated" $ do
        r <- try (void (evaluate (Parallel.generate 10 (\i -> if i == 3 then throw Overflow else i) :: B.Vector Int)))
        r @?= Left Overflow,
      testCase "tasks in a reader" $ do
        r <- (`runReaderT` (10 :: Int)) $ do
          xs <- Lifted.parFor [1, 2, 3] (\i -> asks (+ i))
          (a, b) <- Lifted.both (local (* 2) ask) ask
          c <- Lifted.run (\s -> Lifted.async s (asks negate) >>= Lifted.await)
          weighed <- Lifted.parallelForReduce (chunk 3 (range 0 10)) (+) 0 (\i -> asks (* i))
          seen <- liftIO (newIORef 0)
          Lifted.parallelFor (range 0 100) (\_ -> ask >>= \n -> liftIO (atomicModifyIORef' seen (\k -> (k + n, ()))))
          count <- liftIO (readIORef seen)
          (p, end) <- Lifted.run (`Lifted.asyncCancellable` ask)
          end
          d <- Lifted.await p
          pure (xs, a, b, c, weighed, count, d)
        r @?= ([11, 12, 13], 20, 10, -10, 450, 1000, Just 10),
      testCase "lifted branches of an applicative" $ do
        let twice = Lifted.Parallel (asks (* 2))
        r <- runReaderT (Lifted.runParallel ((,,) <$> twice <*> fmap negate twice <*> pure 'x')) (10 :: Int)
        r @?= (20, -20, 'x')
        joined <- runReaderT (Lifted.runParallel (foldMap (\c -> Lifted.Parallel (local (* 3) (asks (`replicate` c)))) "abc")) (1 :: Int)
        joined @?= "aaabbbccc",
      testCase "lifted seeded runs" $ do
        let order = Lifted.run $ \s -> do
              seen <- liftIO (newIORef [])
              tasks <- mapM (\i -> Lifted.async s (Lifted.switchPoint >> asks (+ i) >>= \n -> liftIO (modifyIORef seen (n :)))) [1 .. 6]
              Lifted.awaitAll tasks >> liftIO (readIORef seen)
            ordered seed = runReaderT (Lifted.seeded seed order) (10 :: Int)
        orders <- mapM ordered [1 .. 20]
        repeated <- mapM ordered [1 .. 20]
        repeated @?= orders
        map sort orders @?= replicate 20 [11 .. 16]
        assertBool "all orders are alike" (length (nub orders) > 1)
    ]
