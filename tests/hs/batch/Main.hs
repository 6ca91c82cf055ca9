{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE DerivingStrategies #-}
{-# LANGUAGE GeneralizedNewtypeDeriving #-}
{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE TypeFamilies #-}
{-# LANGUAGE UndecidableInstances #-}

-- | Tests of "Capstan.Batch".
module Main (main) where

import Capstan.Batch hiding (new)
import qualified Capstan.Batch as Batch
import Capstan.Exception (Unavailable)
import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar)
import Control.Exception (AsyncException (HeapOverflow), bracket, try)
import Control.Monad (forM, forM_, replicateM_)
import Data.IORef (modifyIORef', newIORef, readIORef)
import Data.Int (Int16, Int64, Int8)
import Data.Word (Word16, Word64, Word8)
import Foreign.C.Types
import Foreign.Marshal.Alloc (alloca)
import Foreign.Marshal.Utils (with)
import Foreign.Ptr (FunPtr, Ptr, castFunPtr, castPtr, freeHaskellFunPtr, nullPtr)
import Foreign.StablePtr (StablePtr, deRefStablePtr, freeStablePtr, newStablePtr)
import Foreign.Storable (peek, poke)
import Hedgehog (Gen, Property, check, evalIO, forAll, property, (===))
import qualified Hedgehog.Gen as Gen
import qualified Hedgehog.Range as Range
import System.Mem (getAllocationCounter, performMajorGC, setAllocationCounter)
import System.Posix.Types (CMode, COff, CTimer)
import Test.Tasty (defaultMain, localOption, mkTimeout, testGroup)
import Test.Tasty.HUnit (Assertion, assertBool, assertFailure, testCase, (@?=))

type Six = Int -> Int -> Int -> Int -> Int -> Int -> IO Int

type Eight = Double -> Double -> Double -> Double -> Double -> Double -> Double -> Double -> IO Double

type Mix = Double -> CInt -> Float -> Int64 -> Double -> Word8 -> Float -> Int16 -> IO Double

foreign import ccall "&no_arguments" noArguments :: FunPtr (IO Int)

foreign import ccall "&store" store :: FunPtr (Ptr Int -> Int -> IO ())

foreign import ccall "&weigh" weigh :: FunPtr Six

foreign import ccall "&weigh_doubles" weighDoubles :: FunPtr Eight

foreign import ccall "&mix" mix :: FunPtr Mix

foreign import ccall "mix" c_mix :: Mix

foreign import ccall "&half" half :: FunPtr (Float -> IO Float)

foreign import ccall "&negated" negated :: FunPtr (Int8 -> IO Int8)

foreign import ccall "&next" next :: FunPtr (Word16 -> IO Word16)

foreign import ccall "&same" same :: FunPtr (Int64 -> IO Int64)

foreign import ccall "&is_null" isNull :: FunPtr (Ptr () -> IO Bool)

foreign import ccall "&add_answer" addAnswer :: FunPtr (CInt -> FunPtr (CInt -> IO CInt) -> IO CInt)

foreign import ccall "wrapper" wrap :: (CInt -> IO CInt) -> IO (FunPtr (CInt -> IO CInt))

foreign import ccall "&sum_in_parallel" sumInParallel :: FunPtr (Int -> IO Int)

main :: IO ()
main =
  defaultMain . localOption (mkTimeout 60000000) $
    testGroup
      "batch"
      [ testCase "functions of every shape" shapes,
        testCase "foreign types of every kind" types,
        testCase "pure functions" pureFunctions,
        testCase "room for any number of calls, or none" sizes,
        testCase "any mixture gives what the calls give" (check mixture >>= assertBool "the property does not hold"),
        testCase "calls are made in order, once for each run" order,
        testCase "a batch grows and keeps its results" grows,
        testCase "results that are not there are refused" absent,
        testCase "functions may call Haskell while it collects" callingHaskell,
        testCase "functions may open regions" regions,
        testCase "to add and to run allocates nothing" noAllocation
      ]

-- | Runs a test in both ways, which must agree.
bothWays :: (Batch -> (Batch -> IO ()) -> IO a) -> IO (a, a)
bothWays test = (,) <$> once run <*> once runUnsafe
  where
    once how = Batch.new 1 >>= \batch -> test batch how

shapes :: Assertion
shapes = do
  (safely, unsafely) <- bothWays $ \batch how -> do
    a <- add batch noArguments
    b <- add batch weigh 1 2 3 4 5 6
    c <- add batch weighDoubles 1 2 3 4 5 6 7 8
    d <- add batch mix 1 (-2) 3.5 (-4) 5 255 7.25 (-8)
    e <- add batch half (-1.5)
    f <- add batch negated (-128)
    g <- add batch next 65535
    h <- add batch isNull nullPtr
    how batch
    (,,,,,,,) <$> result batch a <*> result batch b <*> result batch c <*> result batch d
      <*> result batch e
      <*> result batch f
      <*> result batch g
      <*> result batch h
  let expected = (42, 91, 204, 1 - 4 + 10.5 - 16 + 25 + 1530 + 50.75 - 64, -0.75, -128, 0, True)
  safely @?= expected
  unsafely @?= expected

-- | A word comes back unchanged, whichever of C's named types passes it.
types :: Assertion
types = bracket (newStablePtr 'x') freeStablePtr $ \stable -> do
  batch <- Batch.new 1
  a <- add batch (castFunPtr same :: FunPtr (Char -> IO Char)) '\x10ffff'
  b <- add batch (castFunPtr same :: FunPtr (CWchar -> IO CWchar)) (-3)
  c <- add batch (castFunPtr same :: FunPtr (CTime -> IO CTime)) (-5000000000)
  d <- add batch (castFunPtr same :: FunPtr (CUIntMax -> IO CUIntMax)) maxBound
  e <- add batch (castFunPtr same :: FunPtr (StablePtr Char -> IO (StablePtr Char))) stable
  f <- add batch (castFunPtr same :: FunPtr (COff -> IO CMode)) 0x1234567890
  g <- add batch (castFunPtr same :: FunPtr (CIntPtr -> IO CUSeconds)) (-1)
  -- The constructor takes a pointer or a number, depending on the version of base.
  timer <- with (77 :: Word64) (peek . castPtr) :: IO CTimer
  h <- add batch (castFunPtr same :: FunPtr (CTimer -> IO CTimer)) timer
  run batch
  result batch h >>= (@?= timer)
  (,,,) <$> result batch a <*> result batch b <*> result batch c <*> result batch d >>= (@?= ('\x10ffff', -3, -5000000000, maxBound))
  result batch e >>= deRefStablePtr >>= (@?= 'x')
  (,) <$> result batch f <*> result batch g >>= (@?= (0x34567890, 4294967295))

-- | The associated types of a newtype are derived together with its instances.
newtype Metres = Metres Double
  deriving newtype (Eq, Show, Argument, Returned)

pureFunctions :: Assertion
pureFunctions = do
  batch <- Batch.new 1
  a <- add batch (castFunPtr noArguments :: FunPtr Int)
  b <- add batch (castFunPtr half :: FunPtr (Float -> Float)) 5
  c <- add batch (castFunPtr mix :: FunPtr (Metres -> CInt -> Float -> Int64 -> Metres -> Word8 -> Float -> Int16 -> Metres)) (Metres 1) 2 3 4 (Metres 5) 6 7 8
  run batch
  (,,) <$> result batch a <*> result batch b <*> result batch c >>= (@?= (42, 2.5, Metres 204))

sizes :: Assertion
sizes = do
  forM_ [minBound, -1, 0, 1, 1000] $ \size -> do
    batch <- Batch.new size
    key <- add batch next 1
    run batch
    result batch key >>= (@?= 2)
  forM_ [maxBound, maxBound `div` 6, maxBound `div` 48, (2 ^ (61 :: Int) - 4) `div` 6] $ \size ->
    try (Batch.new size) >>= either (@?= HeapOverflow) (const (assertFailure ("a batch of " ++ show size)))

data Call = Mix Double CInt Float Int64 Double Word8 Float Int16 | Half Float | Next Word16
  deriving (Show)

calls :: Gen [Call]
calls = Gen.list (Range.linear 0 60) (Gen.choice [mixed, Half <$> float, Next <$> Gen.enumBounded])
  where
    float = Gen.float (Range.linearFrac (-1000) 1000)
    double = Gen.double (Range.linearFrac (-1000) 1000)
    mixed =
      Mix <$> double <*> (fromIntegral <$> Gen.int (Range.linearFrom 0 (-1000) 1000)) <*> float
        <*> Gen.enumBounded
        <*> double
        <*> Gen.enumBounded
        <*> float
        <*> Gen.enumBounded

mixture :: Property
mixture = property $ do
  list <- forAll calls
  (found, expected) <- evalIO $ do
    batch <- Batch.new 2
    keys <- forM list $ \case
      Mix a b c d e f g h -> fmap Left . (,) (c_mix a b c d e f g h) <$> add batch mix a b c d e f g h
      Half a -> fmap (Right . Left) . (,) (pure (realToFrac a / 2)) <$> add batch half a
      Next a -> fmap (Right . Right) . (,) (pure (fromIntegral (a + 1))) <$> add batch next a
    run batch
    found <- forM keys $ \(_, key) -> case key of
      Left k -> result batch k
      Right (Left k) -> realToFrac <$> result batch k
      Right (Right k) -> fromIntegral <$> result batch k
    (,) found <$> mapM fst keys
  found === expected

order :: Assertion
order = alloca $ \place -> do
  poke place 0
  batch <- Batch.new 10
  forM_ [1 .. 10] $ \i -> add batch store place i
  peek place >>= (@?= 0)
  run batch
  peek place >>= (@?= 10)
  poke place 0
  run batch
  peek place >>= (@?= 10)
  clear batch
  poke place 0
  run batch
  peek place >>= (@?= 0)

grows :: Assertion
grows = do
  batch <- Batch.new 1
  early <- add batch weigh 1 1 1 1 1 1
  run batch
  keys <- forM [1 .. 5000] $ \i -> add batch weigh i 0 0 0 0 1
  result batch early >>= (@?= 21)
  performMajorGC
  run batch
  found <- mapM (result batch) keys
  found @?= map (+ 6) [1 .. 5000]
  result batch early >>= (@?= 21)

absent :: Assertion
absent = do
  batch <- Batch.new 4
  key <- add batch noArguments
  refused (result batch key)
  run batch
  result batch key >>= (@?= 42)
  later <- add batch noArguments
  refused (result batch later)
  clear batch
  refused (result batch key)
  other <- add batch next 1
  run batch
  refused (result batch key)
  result batch other >>= (@?= 2)
  where
    refused action = do
      got <- try action
      case got of
        Left (_ :: Unavailable) -> pure ()
        Right value -> assertFailure ("there is a result: " ++ show value)

callingHaskell :: Assertion
callingHaskell = do
  asked <- newIORef (0 :: Int)
  let answer n = do
        modifyIORef' asked (+ 1)
        performMajorGC
        pure (2 * n)
  bracket (wrap answer) freeHaskellFunPtr $ \ask -> do
    batch <- Batch.new 1
    done <- newEmptyMVar
    _ <- forkIO $ replicateM_ 20 performMajorGC >> putMVar done ()
    keys <- forM [1 .. 20] $ \i -> add batch addAnswer i ask
    run batch
    takeMVar done
    found <- mapM (result batch) keys
    found @?= map (* 3) [1 .. 20]
  readIORef asked >>= (@?= 20)

regions :: Assertion
regions = do
  batch <- Batch.new 5
  keys <- forM [10, 100, 1000, 10000, 100000] $ \n -> add batch sumInParallel n
  run batch
  found <- mapM (result batch) keys
  found @?= [n * (n - 1) `div` 2 | n <- [10, 100, 1000, 10000, 100000]]

noAllocation :: Assertion
noAllocation = do
  batch <- Batch.new 3000
  let turns = fill batch 1000 0
  _ <- turns
  setAllocationCounter maxBound
  before <- getAllocationCounter
  total <- turns
  after <- getAllocationCounter
  assertBool (show (before - after) ++ " bytes") (before - after < 2000)
  total @?= sum [1 .. 1000]
  where
    fill :: Batch -> Int -> Int -> IO Int
    fill batch 0 !total = run batch >> clear batch >> pure total
    fill batch n !total = do
      _ <- add batch next 7
      _ <- add batch mix 1 2 3 4 5 6 7 8
      runUnsafe batch
      clear batch
      key <- add batch noArguments
      runUnsafe batch
      value <- result batch key
      fill batch (n - 1) (total + n + value - 42)
