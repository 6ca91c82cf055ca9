{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}

-- | The behaviour of parts in programs that compile.
module PartTests (tests) where

import qualified Capstan.Array as Array
import Capstan.Array.Linear (Action, Alignment (..), Lent, Part, Ur (..))
import qualified Capstan.Array.Linear as Linear
import Capstan.Exception (InvalidArgument, OutOfBounds)
import Control.Concurrent (MVar, myThreadId, newEmptyMVar, putMVar, readMVar, threadDelay)
import Control.Exception (ErrorCall (..), throwIO, try, uninterruptibleMask_)
import Data.IORef (IORef, atomicModifyIORef', modifyIORef', newIORef, readIORef, writeIORef)
import Data.List (isInfixOf)
import qualified Data.Vector.Storable as Vector
import Foreign.C.Types (CDouble (..), CSize (..))
import Foreign.Ptr (Ptr)
import Hedgehog (Property, check, evalIO, forAll, property, (===))
import qualified Hedgehog.Gen as Gen
import qualified Hedgehog.Range as Range
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit (Assertion, assertBool, testCase, (@?=))

foreign import ccall safe "double_in_parallel" c_double :: Ptr (Lent p Double) -> CSize -> IO ()

foreign import ccall unsafe "sum" c_sum :: Ptr (Lent p Double) -> CSize -> IO CDouble

foreign import ccall unsafe "copy_elements"
  c_copy :: Ptr (Lent p Double) -> CSize -> Ptr (Lent q Double) -> CSize -> IO ()

tests :: TestTree
tests =
  testGroup
    "parts"
    [ testCase "a region has one half while Haskell has the other" atOnce,
      testCase "pieces hold what the whole held" (holds pieces),
      testCase "chunks do, one after another and at once" (holds chunks),
      testCase "C gets the address and the length" toC,
      testCase "C copies from part to part" fromPartToPart,
      testCase "indices outside are refused" outside,
      testCase "chunks without elements are refused" noChunks,
      testCase "a borrowed array keeps what was written" borrowed,
      testCase "an exception waits for the other action" failing,
      testCase "chunks have no threads of their own" threads
    ]
  where
    holds law = check law >>= assertBool "the property does not hold"

doubled :: Part s Double %1 -> Action (Part s Double)
doubled part = Linear.do
  (part', Ur ()) <- Linear.withC part c_double
  Linear.pure part'

atOnce :: Assertion
atOnce = do
  (vector, ()) <- Linear.fromVector CacheLine (Vector.enumFromN 0 10001) $ \part -> Linear.do
    (first, second) <- Linear.pure (Linear.halve part)
    (first', second') <- Linear.both (doubled first) (Linear.mapElements negate second)
    Linear.pure (Linear.combine first' second', Ur ())
  Vector.toList vector @?= map (* 2) [0 .. 4999] ++ map negate [5000 .. 10000]

pieces :: Property
pieces = property $ do
  list <- forAll (Gen.list (Range.linear 0 50) (Gen.int (Range.linear 0 1000)))
  at <- forAll (Gen.int (Range.linearFrom 0 (-5) 60))
  (vector, sizes) <- evalIO $
    Linear.fromVector CacheLine (Vector.fromList list) $ \part -> Linear.do
      (first, second) <- Linear.pure (Linear.split at part)
      (first', Ur n) <- Linear.pure (Linear.length first)
      (second', Ur m) <- Linear.pure (Linear.length second)
      second'' <- Linear.mapElements (+ 1) second'
      Linear.pure (Linear.combine first' second'', Ur (n, m))
  let (before, after) = splitAt at list
  (Vector.toList vector, sizes) === (before ++ map (+ 1) after, (length before, length after))

chunks :: Property
chunks = property $ do
  list <- forAll (Gen.list (Range.linear 0 50) (Gen.int (Range.linear 0 1000)))
  size <- forAll (Gen.int (Range.linear 1 20))
  order <- evalIO (newIORef [])
  (vector, ()) <- evalIO $
    Linear.fromVector CacheLine (Vector.fromList list) $ \part -> Linear.do
      inTurn <- Linear.mapChunks (noting order) (Linear.chunksOf size part)
      all' <- Linear.mapChunksAtOnce (Linear.mapElements (+ 1)) inTurn
      Linear.pure (Linear.unchunk all', Ur ())
  lengths <- evalIO (reverse <$> readIORef order)
  Vector.toList vector === map (+ 1) list
  lengths === expected size (length list)
  where
    noting :: IORef [Int] -> Part s Int %1 -> Action (Part s Int)
    noting order part = Linear.do
      (part', Ur n) <- Linear.pure (Linear.length part)
      Ur () <- Linear.io (modifyIORef' order (n :))
      Linear.pure part'
    expected size count
      | count <= size = [count]
      | otherwise = size : expected size (count - size)

toC :: Assertion
toC = do
  (_, found) <- Linear.fromVector CacheLine (Vector.enumFromN 1 100) $ \part -> Linear.do
    (first, second) <- Linear.pure (Linear.split 10 part)
    (second', Ur total) <- Linear.withC second c_sum
    Linear.pure (Linear.combine first second', Ur total)
  found @?= sum [11 .. 100]

fromPartToPart :: Assertion
fromPartToPart = do
  (vector, ()) <- Linear.fromVector CacheLine (Vector.enumFromN 0 10) $ \part -> Linear.do
    (first, second) <- Linear.pure (Linear.halve part)
    ((first', second'), Ur ()) <- Linear.withC2 first second c_copy
    Linear.pure (Linear.combine first' second', Ur ())
  Vector.toList vector @?= [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]

noChunks :: Assertion
noChunks = mapM_ refused [0, -1, minBound]
  where
    refused size = do
      got <- try (chunked size)
      case got of
        Left e -> assertBool (show e) (("Linear.chunksOf: chunks of " ++ show size) `isInfixOf` show (e :: InvalidArgument))
        Right _ -> assertBool "it was cut" False
    chunked :: Int -> IO (Vector.Vector Double, ())
    chunked size = Linear.new CacheLine 3 $ \part -> Linear.do
      part' <- Linear.write (Linear.unchunk (Linear.chunksOf size part)) 0 1
      Linear.pure (part', Ur ())

outside :: Assertion
outside = mapM_ refused [-1, 3, minBound, maxBound]
  where
    refused index = do
      got <- try (reading index)
      either (const True) (const False) (got :: Either OutOfBounds Double) @?= True
      set <- try (writing index)
      either (const True) (const False) (set :: Either OutOfBounds ()) @?= True
    reading :: Int -> IO Double
    reading index = fmap snd $
      Linear.new CacheLine 3 $ \part -> Linear.do
        (part', Ur element) <- Linear.read part index
        Linear.pure (part', Ur element)
    writing :: Int -> IO ()
    writing index = fmap snd $
      Linear.new CacheLine 3 $ \part -> Linear.do
        part' <- Linear.write part index (1 :: Double)
        Linear.pure (part', Ur ())

borrowed :: Assertion
borrowed = do
  array <- Array.generate CacheLine 10 id
  old <- Linear.unsafeBorrow array $ \part -> Linear.do
    (part', Ur element) <- Linear.read part 3
    part'' <- Linear.write part' 3 33
    Linear.pure (part'', Ur element)
  old @?= 3
  Array.read array 3 >>= (@?= 33)

-- | The first action fails while the second cannot be interrupted, like an action in a foreign
-- call.
failing :: Assertion
failing = do
  begun <- newEmptyMVar
  ended <- newIORef False
  result <- try $
    Linear.new CacheLine 2 $ \part -> Linear.do
      (first, second) <- Linear.pure (Linear.halve part)
      (first', second') <- Linear.both (breaking begun first) (slow begun ended second)
      Linear.pure (Linear.combine first' second', Ur ())
  result @?= Left (ErrorCall "broken")
  readIORef ended >>= (@?= True)
  where
    breaking :: MVar () -> Part s Double %1 -> Action (Part s Double)
    breaking begun part = Linear.do
      Ur () <- Linear.io (readMVar begun >> throwIO (ErrorCall "broken"))
      Linear.write part 0 (1 :: Double)
    slow :: MVar () -> IORef Bool -> Part s Double %1 -> Action (Part s Double)
    slow begun ended part = Linear.do
      (part', Ur ()) <- Linear.withC part (\_ _ -> uninterruptibly begun ended)
      Linear.pure part'
    uninterruptibly :: MVar () -> IORef Bool -> IO ()
    uninterruptibly begun ended = uninterruptibleMask_ $ do
      putMVar begun ()
      threadDelay 20000
      writeIORef ended True

-- | The number of threads that compute is the number of Capabilities, not of chunks.
threads :: Assertion
threads = do
  seen <- newIORef []
  let noting :: Part s Int %1 -> Action (Part s Int)
      noting part = Linear.do
        Ur () <- Linear.io (myThreadId >>= \me -> atomicModifyIORef' seen (\others -> (if me `elem` others then others else me : others, ())))
        Linear.mapElements (+ 1) part
  (vector, ()) <- Linear.fromVector CacheLine (Vector.enumFromN 0 20000) $ \part -> Linear.do
    done <- Linear.mapChunksAtOnce noting (Linear.chunksOf 2 part)
    Linear.pure (Linear.unchunk done, Ur ())
  Vector.toList vector @?= [1 .. 20000]
  count <- length <$> readIORef seen
  assertBool (show count) (count <= 100)
