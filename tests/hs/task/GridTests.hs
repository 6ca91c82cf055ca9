{-# LANGUAGE TupleSections #-}

-- | Loops over several dimensions, and the states of workers.
module GridTests (tests) where

import Capstan.Exception (InvalidArgument)
import Capstan.Task
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List (isInfixOf, sort)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

tests :: TestTree
tests =
  testGroup
    "grids and states"
    [ testProperty "each index of two dimensions once" $
        forAll ((,) <$> side <*> side) $ \(rows, columns) -> ioProperty $ do
          found <- visited (along (made rows) `crossing` made columns)
          pure (found === [(i, j) | i <- indices rows, j <- indices columns]),
      testProperty "each index of three dimensions once" $
        forAll ((,,) <$> side <*> side <*> side) $ \(layers, rows, columns) -> ioProperty $ do
          found <- visited (along (made layers) `crossing` made rows `crossing` made columns)
          pure (found === [((i, j), k) | i <- indices layers, j <- indices rows, k <- indices columns]),
      testCase "a tile's indices are in their order, and no other tile's are among them" $ do
        seen <- newMVar []
        parallelForGrid (along (chunk 2 (range 0 4)) `crossing` chunk 3 (range 0 6)) $ \(i, j) -> do
          me <- myThreadId
          modifyMVar_ seen (pure . ((me, (i, j)) :))
        order <- reverse <$> takeMVar seen
        forM_ [(top, left) | top <- [0, 2], left <- [0, 3]] $ \(top, left) ->
          [at | (_, at@(i, j)) <- order, i `div` 2 == top `div` 2, j `div` 3 == left `div` 3]
            @?= [(i, j) | i <- [top, top + 1], j <- [left .. left + 2 :: Int]],
      testCase "the ends of Int" $ do
        found <- visited (along (chunk 5 (range (maxBound - 7) maxBound)) `crossing` range minBound (minBound + 2))
        length found @?= 14,
      testProperty "chunks of any size at the ends of Int" $
        forAll ((,) <$> few <*> few) $ \((from, to, size), (from', to', size')) -> ioProperty $ do
          found <- visited (along (chunk size (range from to)) `crossing` chunk size' (range from' to'))
          pure (found === [(i, j) | i <- countable from to, j <- countable from' to']),
      testCase "a dimension of all Ints is one tile" $ do
        seen <- newIORef Nothing
        r <- try (parallelForGrid (along (range 0 1) `crossing` range minBound maxBound) (\i -> writeIORef seen (Just i) >> throwIO (ErrorCall "first")))
        r @?= Left (ErrorCall "first")
        readIORef seen >>= (@?= Just (0, minBound)),
      testCase "more tiles than an Int can say" . forM_ tooMany $ \(grid, tiles) -> do
        r <- try (parallelForGrid grid (\_ -> assertFailure "a body runs"))
        case r of
          Left e -> assertBool (show e) (all (`isInfixOf` show (e :: InvalidArgument)) [show tiles ++ " tiles", show (maxBound :: Int), "GridTests.hs"])
          Right () -> assertFailure "was accepted",
      testCase "no tiles in one dimension, and too many in the other" $
        visited (along (range minBound maxBound) `crossing` chunk 1 (range 0 maxBound) `crossing` range 3 3) >>= (@?= []),
      testCase "an exception ends it" $ do
        r <- try (parallelForGrid (along (range 0 10) `crossing` range 0 10) (\(i, j) -> when (i == 3 && j == 4) (throwIO (ErrorCall "here"))))
        r @?= Left (ErrorCall "here"),
      testCase "on a pool" . withPool "grid" 1 $ \pool -> do
        r <- newIORef (0 :: Int)
        parallelForGrid (along (onPool pool (range 0 10)) `crossing` range 0 10) (\_ -> atomicModifyIORef' r (\n -> (n + 1, ())))
        readIORef r >>= (@?= 100),
      testCase "nobody shares a state" $ do
        states <- newWorkerStates ((,) <$> newIORef False <*> newIORef (0 :: Int))
        parFor_ [1 .. 2000 :: Int] $ \_ -> withWorkerState states $ \(busy, count) -> do
          now <- atomicModifyIORef' busy (True,)
          when now (throwIO (ErrorCall "two have one state"))
          yield
          modifyIORef' count (+ 1)
          writeIORef busy False
        counts <- workerStates states >>= mapM (readIORef . snd)
        sum counts @?= 2000,
      testCase "a state is used again" $ do
        counted <- newIORef (0 :: Int)
        states <- newWorkerStates (atomicModifyIORef' counted (\n -> (n + 1, n)))
        replicateM_ 10 (withWorkerState states (\_ -> pure ()))
        readIORef counted >>= (@?= 1),
      testCase "bodies that compute need few states" . forM_ [1 .. 3 :: Int] $ \_ -> do
        counted <- newIORef (0 :: Int)
        states <- newWorkerStates (atomicModifyIORef' counted (\n -> (n + 1, ())) >> newIORef (0 :: Int))
        parallelFor (range 0 100000) (\i -> withWorkerState states (\sum' -> forM_ [0 .. i `mod` 400] (\k -> modifyIORef' sum' (+ k))))
        capabilities <- getNumCapabilities
        number <- readIORef counted
        assertBool (show number ++ " states") (number < 8 * capabilities),
      testCase "not if its body threw" $ do
        counted <- newIORef (0 :: Int)
        states <- newWorkerStates (atomicModifyIORef' counted (\n -> (n + 1, n)))
        r <- try (withWorkerState states (throwIO . ErrorCall . show))
        r @?= (Left (ErrorCall "0") :: Either ErrorCall ())
        withWorkerState states pure >>= (@?= 1)
        workerStates states >>= (@?= [1])
    ]

-- | A range with few indices that may lie at an end of 'Int', and a size of chunks.
few :: Gen (Int, Int, Int)
few = do
  count <- choose (0, 12)
  from <- elements [minBound, minBound + 5, -6, 0, maxBound - 20, maxBound - count]
  size <- oneof [choose (1, 5), (maxBound -) <$> choose (0, 20), elements [maxBound `div` 2, maxBound `div` 3]]
  pure (from, from + count, size)

countable :: Int -> Int -> [Int]
countable from to = map fromInteger [toInteger from .. toInteger to - 1]

-- | Grids of too many tiles, with their number.
tooMany :: [(Grid (Int, Int), Integer)]
tooMany =
  [ (along (range 0 (2 ^ (32 :: Int))) `crossing` chunk 1 (range 0 (2 ^ (32 :: Int))), 2 ^ (64 :: Int)),
    (along (range minBound maxBound) `crossing` range 0 1, 2 ^ (64 :: Int) - 1),
    (along (chunk 2 (range minBound maxBound)) `crossing` range 0 9, 2 ^ (63 :: Int))
  ]

-- | The length of a side, and the number of its indices in a tile; 0 stands for a range without a
-- chunk size.
side :: Gen (Int, Int)
side = (,) <$> choose (0, 12) <*> choose (0, 5)

made :: (Int, Int) -> Range
made (size, tile) = (if tile == 0 then id else chunk tile) (range (-3) (size - 3))

indices :: (Int, Int) -> [Int]
indices (size, _) = [-3 .. size - 4]

visited :: Ord i => Grid i -> IO [i]
visited grid = do
  seen <- newIORef []
  parallelForGrid grid (\i -> atomicModifyIORef' seen (\is -> (i : is, ())))
  sort <$> readIORef seen
