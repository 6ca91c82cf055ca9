-- | Loops: every index runs once, in order if order is promised, at the ends of 'Int' too.
module LoopTests (tests) where

import Capstan.Domain (capabilityNumber, join, spawnOn)
import Capstan.Task
import Control.Concurrent (getNumCapabilities, threadDelay)
import Control.Monad hiding (join)
import Control.Monad.ST (runST)
import Data.IORef
import Data.Maybe (isJust, listToMaybe)
import qualified Data.Vector.Unboxed as U
import qualified Data.Vector.Unboxed.Mutable as M
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

tests :: TestTree
tests =
  testGroup
    "loops"
    [ testCase "Capabilities that were busy join when they are free" joined,
      testProperty "each index once" $ \(Small from) (NonNegative count) grain -> ioProperty $ do
        marks <- M.replicate count (0 :: Int)
        parallelFor (grained grain (range from (from + count))) (\i -> M.modify marks (+ 1) (i - from))
        (=== U.replicate count 1) <$> U.freeze marks,
      testProperty "a reduction keeps the order" $ \(Small from) (NonNegative count) grain -> ioProperty $ do
        xs <- parallelForReduce (grained grain (range from (from + count))) (++) [] (\i -> pure [i])
        pure (xs === [from .. from + count - 1]),
      testProperty "pieces cover the range in order" $ \(Small from) (NonNegative count) grain -> ioProperty $ do
        pieces <- mapChunks (grained grain (range from (from + count))) (\a b -> pure [a .. b - 1])
        pure (concat pieces === [from .. from + count - 1] .&&. not (any null pieces)),
      testProperty "the least index is found" $ \(NonNegative count) grain wanted -> ioProperty $ do
        found <- parallelFind (grained grain (range 0 count)) (\i -> pure (if i `elem` wanted then Just i else Nothing))
        let hits = [i | i <- [0 .. count - 1], i `elem` (wanted :: [Int])]
        pure (found === listToMaybe hits),
      testCase "pieces have the size that was asked for" $ do
        pieces <- mapChunks (chunk 7 (range 3 1000)) (\a b -> pure (b - a))
        assertBool (show pieces) (all (== 7) (init pieces) && sum pieces == 997),
      testCase "empty and reversed ranges" $ do
        count <- newIORef (0 :: Int)
        forM_ [range 0 0, range 5 5, range 5 0, chunk 3 (range 9 1)] $ \r -> do
          parallelFor r (\_ -> modifyIORef count (+ 1))
          parallelForReduce r (+) 17 pure >>= (@?= 17)
          mapChunks r (\_ _ -> pure ()) >>= (@?= [])
        readIORef count >>= (@?= 0),
      testCase "one index" $ parallelForReduce (range 41 42) (+) 0 pure >>= (@?= 41),
      testCase "the ends of Int" $ do
        let high = maxBound :: Int
            low = minBound :: Int
        parallelForReduce (chunk 2 (range (high - 5) high)) (++) [] (\i -> pure [high - i]) >>= (@?= [5, 4, 3, 2, 1])
        parallelForReduce (range low (low + 4)) (++) [] (\i -> pure [i - low]) >>= (@?= [0, 1, 2, 3])
        parallelFind (chunk maxBound (range low high)) (pure . Just) >>= (@?= Just low),
      testProperty "chunks are those of exact arithmetic" $
        forAll extreme $ \(from, to, size) -> ioProperty $ do
          let expected = chunksOf from to size
          found <- mapChunks (chunk size (range from to)) (curry pure)
          seeds <- forM [1 .. 3] $ \seed -> seeded seed (mapChunks (chunk size (range from to)) (curry pure))
          pure (conjoin (map (=== expected) (found : seeds))),
      testProperty "blocks cover any range, without a gap" $
        forAll extreme $ \(from, to, _) -> ioProperty $ do
          blocks <- mapChunks (range from to) (curry pure)
          pure (if from >= to then null blocks else map fst blocks ++ [to] == from : map snd blocks && length blocks <= 512),
      testCase "nothing is begun above what was found" $ do
        begun <- newIORef (0 :: Int)
        found <- parallelFind (chunk 1 (range 0 maxBound)) $ \i -> do
          atomicModifyIORef' begun (\n -> (max n i, ()))
          pure (if i == 100 then Just i else Nothing)
        found @?= Just 100
        -- The loop would not end if it visited all indices.
        readIORef begun >>= \n -> assertBool (show n) (n >= 100),
      testCase "loops in loops" $ do
        result <- parallelForReduce (range 0 50) (+) 0 $ \i ->
          parallelForReduce (chunk 3 (range 0 50)) (+) 0 (\j -> pure (i * j))
        result @?= sum [i * j | i <- [0 .. 49], j <- [0 .. 49]],
      testCase "in ST" $ do
        let squares = runST $ do
              v <- M.new 1000
              unsafeParallelFor (chunk 10 (range 0 1000)) (\i -> M.write v i (i * i))
              U.unsafeFreeze v
        squares @?= U.generate 1000 (\i -> i * i),
      testCase "a large range of an empty body" $ parallelFor (range 0 50000000) (\_ -> pure ()),
      testCase "a body that does not allocate is interrupted" $ do
        let soon = timeout 20000
        soon (parallelFor (range 0 maxBound) (\_ -> pure ())) >>= (@?= Nothing)
        soon (parallelFor (chunk 1 (range 0 maxBound)) (\_ -> pure ())) >>= (@?= Nothing)
        soon (parallelForReduce (chunk 3 (range 0 maxBound)) (+) 0 (\_ -> pure (0 :: Int))) >>= (@?= Nothing)
        soon (parallelFind (chunk 1 (range 0 maxBound)) (\_ -> pure (Nothing :: Maybe ()))) >>= (@?= Nothing)
    ]

grained :: Int -> Range -> Range
grained grain = if grain <= 0 then id else chunk grain

-- | A range anywhere in 'Int', with a size of chunks that makes at most some hundred chunks.
extreme :: Gen (Int, Int, Int)
extreme = do
  from <- bound
  to <- bound
  let least = max 1 ((toInteger to - toInteger from) `div` 200)
  size <- oneof [toInteger . (maxBound -) <$> choose (0, 300 :: Int), pure least, (least +) <$> choose (0, 7)]
  pure (from, to, fromInteger (min (toInteger (maxBound :: Int)) (max least size)))
  where
    bound = frequency [(1, pure minBound), (2, pure maxBound), (4, anywhere)]
    anywhere = oneof [(minBound +) <$> near, (maxBound -) <$> near, subtract 300 <$> near, arbitrary, getLarge <$> arbitrary]
    near = choose (0, 600 :: Int)

-- | The chunks of a range, by exact arithmetic.
chunksOf :: Int -> Int -> Int -> [(Int, Int)]
chunksOf from to size = [(fromInteger i, fromInteger (min end (i + step))) | i <- takeWhile (< end) [toInteger from, toInteger from + step ..]]
  where
    end = toInteger to
    step = toInteger size

-- | A loop that ends when another Capability has run an index of it. The other Capabilities compute
-- something else at first, until their scouts sleep.
joined :: Assertion
joined = do
  capabilities <- getNumCapabilities
  over <- newIORef False
  turns <- newIORef (0 :: Int)
  let compute = do
        atomicModifyIORef' turns (\n -> (n + 1, ()))
        readIORef over >>= (`unless` compute)
  others <- mapM (`spawnOn` compute) [1 .. capabilities - 1]
  -- A scope gives new Capabilities their workers.
  run $ \_ -> parallelFor (chunk 1 (range 0 100)) (\_ -> pure ())
  threadDelay 50000
  writeIORef over True
  mapM_ join others
  when (capabilities > 1) $ do
    found <- spawnOn 0 (parallelFind (chunk 1 (range 0 maxBound)) elsewhere) >>= join
    assertBool "elsewhere" (isJust found)
  where
    elsewhere i = (\n -> if n == 0 then Nothing else Just i) <$> capabilityNumber
