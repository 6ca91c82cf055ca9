{-# LANGUAGE BangPatterns #-}

-- | Tests of "Capstan.Prim".
module Main (main) where

import Capstan.Prim
import Control.Concurrent
import Control.Exception (bracket)
import Control.Monad (forM, forM_, unless)
import Data.IORef (atomicModifyIORef', newIORef, readIORef)
import Data.List (sort)
import Foreign.C.Types (CInt (..))
import Foreign.Ptr (FunPtr, freeHaskellFunPtr)
import System.Mem (getAllocationCounter, performGC, setAllocationCounter)
import Test.Tasty (defaultMain, localOption, mkTimeout, testGroup)
import Test.Tasty.HUnit (Assertion, assertBool, testCase, (@?=))

type Ask = CInt -> CInt -> CInt -> IO ()

foreign import ccall "wrapper" wrapAsk :: Ask -> IO (FunPtr Ask)

foreign import ccall safe "each_thread" eachThread :: CInt -> FunPtr Ask -> IO ()

foreign import ccall safe "each_thread_nested" eachThreadNested :: CInt -> FunPtr Ask -> IO ()

main :: IO ()
main =
  defaultMain . localOption (mkTimeout 60000000) $
    testGroup
      "prim"
      [ testCase "the Capability is the one that GHC names" capability,
        testCase "and stays so while threads move and collections run" moving,
        testCase "outside of regions a thread is number 0 of 1" outside,
        testCase "in a region, what OpenMP says in C" (inside eachThread 3 3),
        testCase "in nested regions too" (inside eachThreadNested 2 4),
        testCase "no question allocates" noAllocation
      ]

-- | Runs the action on each Capability, in a thread that cannot leave it.
onEachCapability :: (Int -> IO ()) -> Assertion
onEachCapability action = do
  count <- getNumCapabilities
  assertBool "the test needs two Capabilities" (count >= 2)
  ends <- forM [0 .. count - 1] $ \number -> do
    end <- newEmptyMVar
    _ <- forkOn number (action number >> putMVar end ())
    pure end
  mapM_ takeMVar ends

capability :: Assertion
capability = do
  wrong <- newIORef []
  onEachCapability $ \number -> do
    (named, _) <- threadCapability =<< myThreadId
    answers <- (,) <$> capabilityNumber <*> (placeCapability <$> place)
    unless (named == number && answers == (number, number)) $
      atomicModifyIORef' wrong (\w -> ((number, answers) : w, ()))
  readIORef wrong >>= (@?= [])

moving :: Assertion
moving = do
  wrong <- newIORef (0 :: Int)
  onEachCapability $ \number -> forM_ [1 .. 2000 :: Int] $ \turn -> do
    yield
    if turn `mod` 500 == 0 then performGC else pure ()
    answer <- capabilityNumber
    unless (answer == number) $ atomicModifyIORef' wrong (\n -> (n + 1, ()))
  readIORef wrong >>= (@?= 0)

outside :: Assertion
outside = do
  end <- newEmptyMVar
  _ <- forkIO (answersHere >>= putMVar end)
  takeMVar end >>= (@?= (0, 1, False))
  answersHere >>= (@?= (0, 1, False))

answersHere :: IO (Int, Int, Bool)
answersHere = (,,) <$> threadNumber <*> teamSize <*> inParallel

-- | Every thread compares Haskell's answer with C's last answer.
inside :: (CInt -> FunPtr Ask -> IO ()) -> CInt -> Int -> Assertion
inside region threads calls = do
  seen <- newIORef []
  let compareAnswers thread size parallel = do
        answers <- answersHere
        Place _ t s p <- place
        let said = (fromIntegral thread, fromIntegral size, parallel /= 0)
        atomicModifyIORef' seen (\l -> ((said, answers, (t, s, p)) : l, ()))
  bracket (wrapAsk compareAnswers) freeHaskellFunPtr (region threads)
  found <- readIORef seen
  length found @?= calls
  forM_ found $ \(said, one, all') -> (one, all') @?= (said, said)
  maximum (sort [number | ((number, _, _), _, _) <- found]) @?= fromIntegral threads - 1
  answersHere >>= (@?= (0, 1, False))

noAllocation :: Assertion
noAllocation = do
  let questions = 10000
  setAllocationCounter maxBound
  before <- getAllocationCounter
  total <- ask questions 0
  after <- getAllocationCounter
  assertBool "the answers are used" (total >= 0)
  assertBool (show (before - after) ++ " bytes") (before - after < 4096)
  where
    ask :: Int -> Int -> IO Int
    ask 0 !total = pure total
    ask n !total = do
      number <- capabilityNumber
      thread <- threadNumber
      size <- teamSize
      parallel <- inParallel
      Place a b c d <- place
      ask (n - 1) (total + number + thread + size + fromEnum parallel + a + b + c + fromEnum d)
