{-# LANGUAGE ScopedTypeVariables #-}

-- | Tests of "Capstan.Array".
module Main (main) where

import Capstan.Array (Alignment (..), Array)
import qualified Capstan.Array as Array
import Capstan.Exception (InvalidArgument)
import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar, threadDelay)
import Control.Exception (SomeException, evaluate, try)
import Control.Monad (forM, forM_, replicateM_, unless, void)
import Data.List (isInfixOf)
import qualified Data.Vector.Storable as Vector
import qualified Data.Vector.Storable.Mutable as Mutable
import Foreign.C.Types (CDouble (..), CInt (..), CLong (..), CSize (..))
import Foreign.Marshal.Alloc (malloc)
import Foreign.Ptr (Ptr, ptrToWordPtr)
import Foreign.Storable (peek, poke)
import Hedgehog
import qualified Hedgehog.Gen as Gen
import qualified Hedgehog.Range as Range
import System.Environment (getArgs, getExecutablePath)
import System.Exit (ExitCode (..))
import System.Mem (performMajorGC)
import System.Process (readProcessWithExitCode)
import Test.Tasty (TestTree, defaultMain, localOption, mkTimeout, testGroup)
import Test.Tasty.HUnit (Assertion, assertBool, assertFailure, testCase, (@?=))

foreign import ccall safe "add_in_parallel" addInParallel :: Ptr Double -> CSize -> CDouble -> IO ()

foreign import ccall unsafe "faults_of_copies" faultsOfCopies :: Ptr Double -> Ptr Double -> CSize -> CLong -> IO CLong

foreign import ccall safe "write_for_ever" writeForEver :: Ptr Double -> CSize -> Ptr CInt -> IO ()

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    ["exit-while-C-writes"] -> exitWhileWriting
    _ ->
      defaultMain . localOption (mkTimeout 60000000) $
        testGroup
          "array"
          [ testGroup "memory" memory,
            testGroup "elements" elements,
            testGroup "vectors" vectors
          ]

memory :: [TestTree]
memory =
  [ testCase "an array begins where it was asked to" begins,
    testCase "and shares no line with the next" apart,
    testCase "impossible sizes are refused" refused,
    testCase "arrays without elements take no memory of others" withoutElements,
    testCase "a region and Haskell see the same elements" sameElements,
    testCase "collections leave it where it is" still,
    testCase "and keep its elements" kept,
    testCase "what is dropped is used again" reused,
    testCase "copies into it have no page faults after the first" noFaults,
    testCase "the program may end while C writes" mayEnd
  ]

address :: Array a -> IO Int
address array = Array.withPointer array (pure . fromIntegral . ptrToWordPtr)

begins :: Assertion
begins = forM_ [(CacheLine, 64), (Page, 4096), (HugePage, 2097152)] $ \(alignment, unit) ->
  forM_ [0, 1, 63, 1000, 300000] $ \count -> do
    array <- Array.new alignment count :: IO (Array Double)
    start <- address array
    (alignment, count, start `mod` unit) @?= (alignment, count, 0)
    Array.length array @?= count
    Array.fill array 1

apart :: Assertion
apart = do
  arrays <- mapM (const (Array.filled CacheLine 1 0)) [1 .. 100 :: Int] :: IO [Array Double]
  lines' <- mapM (fmap (`div` 64) . address) arrays
  assertBool "two arrays in one line" (and [a /= b | (i, a) <- indexed lines', (j, b) <- indexed lines', i < j])
  where
    indexed = zip [0 :: Int ..]

refused :: Assertion
refused = forM_ [-1, minBound, maxBound, maxBound `div` 8] $ \count -> do
  result <- try (Array.new Page count :: IO (Array Double))
  case result of
    Left (_ :: InvalidArgument) -> pure ()
    Right _ -> assertFailure ("there is an array of " ++ show count)

-- | Small pinned objects share a block. An array without elements is small, for every alignment.
withoutElements :: Assertion
withoutElements = do
  others <- forM [1 .. 500] $ \i -> do
    other <- Array.filled Element 5 i :: IO (Array Int)
    forM_ [minBound .. maxBound] $ \alignment -> Array.new alignment 0 :: IO (Array Double)
    pure (i, other)
  performMajorGC
  forM_ others $ \(i, other) -> Array.toList other >>= (@?= replicate 5 i)

sameElements :: Assertion
sameElements = do
  array <- Array.generate CacheLine 10007 fromIntegral :: IO (Array Double)
  Array.withPointer array $ \start -> addInParallel start 10007 0.5
  found <- Array.toList array
  found @?= map (+ 0.5) [0 .. 10006]
  let (_, after) = Array.splitAt 10000 array
  Array.write after 6 (-1)
  Array.read array 10006 >>= (@?= (-1))

still :: Assertion
still = do
  array <- Array.generate CacheLine 5000 fromIntegral :: IO (Array Double)
  before <- address array
  done <- newEmptyMVar
  _ <- forkIO $ do
    replicateM_ 20 (performMajorGC >> void (Array.filled Element 5000 (7 :: Double)))
    putMVar done ()
  Array.withPointer array $ \start -> replicateM_ 50 (addInParallel start 5000 1)
  takeMVar done
  after <- address array
  after @?= before
  Array.toList array >>= (@?= map (+ 50) [0 .. 4999])

-- | Arrays keep their place while others are made and dropped in the free memory.
kept :: Assertion
kept = forM_ [minBound .. maxBound] $ \alignment -> forM_ [1, 1000, 300000] $ \count -> do
  arrays <- forM [1 .. 10 :: Int] $ \i -> (,) i <$> Array.filled alignment count i
  before <- mapM (address . snd) arrays
  forM_ [1 .. 3 :: Int] . const $ do
    performMajorGC
    others <- forM [1 .. 20 :: Int] . const $ Array.filled Page count 0
    forM_ others $ \other -> Array.read other 0 >>= (@?= (0 :: Int))
  mapM (address . snd) arrays >>= (@?= before)
  forM_ arrays $ \(i, array) -> do
    found <- Array.freeze array
    assertBool (show (alignment, count)) (Vector.all (== i) found)

-- | Without reuse this would take 8 GB.
reused :: Assertion
reused = forM_ [1 .. 1000 :: Int] $ \i -> do
  array <- Array.new Page 1000000 :: IO (Array Double)
  Array.write array 999999 (fromIntegral i)

noFaults :: Assertion
noFaults = do
  from <- Array.generate CacheLine 16384 fromIntegral
  to <- Array.new CacheLine 16384
  let repeated times = Array.withPointer from $ \f -> Array.withPointer to $ \t -> faultsOfCopies t f 16384 times
  _ <- repeated 1
  faults <- repeated 1000
  -- New memory would fault on each of its 32 pages; the kernel may move a page meanwhile.
  assertBool (show faults) (faults < 32)

mayEnd :: Assertion
mayEnd = do
  self <- getExecutablePath
  forM_ [1 .. 5 :: Int] . const $ do
    result <- readProcessWithExitCode self ["exit-while-C-writes"] ""
    result @?= (ExitSuccess, "", "")

exitWhileWriting :: IO ()
exitWhileWriting = do
  array <- Array.new Page 1000
  started <- malloc
  poke started 0
  _ <- forkIO (Array.withPointer array $ \start -> writeForEver start 1000 started)
  let wait = do
        now <- peek started
        unless (now == 1) (threadDelay 100 >> wait)
  wait

elements :: [TestTree]
elements =
  [ testCase "indices outside are refused" outside,
    testCase "slices are windows" (holds slices),
    testCase "a copy is as through a third array" (holds copies)
  ]

outside :: Assertion
outside = do
  array <- Array.filled Element 5 'x'
  forM_ [minBound, -1, 5, maxBound] $ \i -> do
    fails ("Capstan.Array.read: index " ++ show i ++ " of 5 elements") (Array.read array i)
    fails ("Capstan.Array.write: index " ++ show i ++ " of 5 elements") (Array.write array i 'y')
  forM_ [(3, 3), (-1, 2), (2, -1), (6, 0), (maxBound, 1), (1, maxBound), (maxBound, maxBound)] $ \(start, count) ->
    fails
      ("Capstan.Array.slice: " ++ show count ++ " elements from index " ++ show start ++ " of 5")
      (evaluate (Array.length (Array.slice start count array)))
  Array.length (Array.slice 5 0 array) @?= 0
  other <- Array.filled Element 4 'x'
  fails "Capstan.Array.copy: 4 elements into 5" (Array.copy array other)
  fails "Capstan.Array.new: -1 elements" (Array.new Element (-1) :: IO (Array Double))
  fails "Capstan.Array.filled: -2 elements" (Array.filled Page (-2) 'x')
  fails "Capstan.Array.generate: -3 elements" (Array.generate CacheLine (-3) id)
  Array.toList array >>= (@?= "xxxxx")

fails :: String -> IO a -> Assertion
fails what action = do
  result <- try action
  case result of
    Left (e :: SomeException) -> assertBool (show e) (what `isInfixOf` show e)
    Right _ -> assertFailure ("no exception: " ++ what)

holds :: Property -> Assertion
holds law = check law >>= assertBool "the property does not hold"

slices :: Property
slices = property $ do
  list <- forAll (Gen.list (Range.linear 0 100) (Gen.int (Range.linear 0 1000)))
  start <- forAll (Gen.int (Range.linear 0 (length list)))
  count <- forAll (Gen.int (Range.linear 0 (length list - start)))
  alignment <- forAll (Gen.element [Element, CacheLine, Page])
  array <- evalIO (Array.fromList alignment list)
  let window = Array.slice start count array
  found <- evalIO (Array.toList window)
  found === take count (drop start list)
  evalIO (Array.fill window (-1))
  whole <- evalIO (Array.toList array)
  whole === take start list ++ replicate count (-1) ++ drop (start + count) list

copies :: Property
copies = property $ do
  list <- forAll (Gen.list (Range.linear 1 100) (Gen.int (Range.linear 0 1000)))
  let size = length list
  count <- forAll (Gen.int (Range.linear 0 size))
  to <- forAll (Gen.int (Range.linear 0 (size - count)))
  from <- forAll (Gen.int (Range.linear 0 (size - count)))
  array <- evalIO (Array.fromList CacheLine list)
  evalIO (Array.copy (Array.slice to count array) (Array.slice from count array))
  found <- evalIO (Array.toList array)
  found === take to list ++ take count (drop from list) ++ drop (to + count) list

vectors :: [TestTree]
vectors =
  [ testCase "the vector is the same memory" sameMemory,
    testCase "freeze and thaw copy" separate,
    testCase "a vector that others made is an array" foreignVector
  ]

sameMemory :: Assertion
sameMemory = do
  array <- Array.generate CacheLine 10 id
  let vector = Array.toMutable array
  Mutable.write vector 3 33
  Array.read array 3 >>= (@?= 33)
  Array.write (Array.fromMutable vector) 4 44
  frozen <- Array.unsafeFreeze array
  Vector.toList frozen @?= [0, 1, 2, 33, 44, 5, 6, 7, 8, 9]
  before <- address array
  Vector.unsafeWith frozen (pure . fromIntegral . ptrToWordPtr) >>= (@?= before)

separate :: Assertion
separate = do
  array <- Array.generate CacheLine 4 id
  frozen <- Array.freeze array
  Array.write array 0 9
  Vector.toList frozen @?= [0, 1, 2, 3]
  thawed <- Array.thaw frozen
  Array.write thawed 1 9
  Vector.toList frozen @?= [0, 1, 2, 3]

foreignVector :: Assertion
foreignVector = do
  array <- Array.unsafeThaw (Vector.enumFromN (1 :: Double) 1000)
  Array.withPointer array $ \start -> addInParallel start 1000 1
  Array.toList array >>= (@?= [2 .. 1001])
