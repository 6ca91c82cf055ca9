-- | Timers: the time when they fire; each ends in exactly one way.
module TimerTests (tests) where

import Capstan.Event
import Control.Concurrent (forkIO, killThread, threadDelay)
import Control.Concurrent.MVar
import Control.Monad (forM, forM_, replicateM_, unless, void, when)
import Data.IORef
import GHC.Conc (atomically, readTVar, readTVarIO, retry)
import Support
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "timers"
    [ testCase "never early" neverEarly,
      testCase "fired or cancelled, never both, never neither" eitherOr,
      testCase "moved" moved,
      testCase "a period does not drift" periodic,
      testCase "a periodic timer cancels itself" cancelsItself,
      testCase "a hundred thousand, half of them cancelled" many,
      testCase "sleep and timerVar" sleeping,
      testCase "an exception ends a sleep" interrupted
    ]

neverEarly :: Assertion
neverEarly = do
  manager <- systemManager
  forM_ [0, 1 .. 10] $ \ms -> do
    result <- newEmptyMVar
    before <- clock
    _ <- startTimer manager (milliseconds ms) (Run (const (clock >>= putMVar result)))
    fired <- takeMVar result
    assertBool "not early" (fired `since` before >= milliseconds ms)

eitherOr :: Assertion
eitherOr = do
  manager <- systemManager
  forM_ [1 .. 1000 :: Int] $ \n -> do
    counter <- newCounter
    timer <- startTimer manager (microseconds (n `mod` 4 * 50)) (Run (const (bump counter)))
    when (n `mod` 3 == 0) (threadDelay 100)
    cancelled <- cancelTimer timer
    if cancelled
      then assertEqual "cancelled" 0 =<< count counter
      else reaches counter 1
    again <- cancelTimer timer
    assertBool "it has ended" (not again)

moved :: Assertion
moved = do
  manager <- systemManager
  result <- newEmptyMVar
  before <- clock
  timer <- startTimer manager (seconds 3600) (Run (const (clock >>= putMVar result)))
  True <- reschedule timer (milliseconds 5)
  True <- reschedule timer (milliseconds 10)
  fired <- takeMVar result
  assertBool "not early" (fired `since` before >= milliseconds 10)
  False <- reschedule timer mempty
  pure ()

periodic :: Assertion
periodic = do
  manager <- systemManager
  total <- newIORef 0
  start <- clock
  let period = milliseconds 1
  timer <- startPeriodic manager period period (Run (\e -> modifyIORef' total (+ expirations e)))
  let wait = readIORef total >>= \n -> unless (n >= 30) (threadDelay 1000 >> wait)
  wait
  _ <- cancelTimer timer
  soon
  n <- readIORef total
  now <- clock
  assertBool "no more than periods have passed" (milliseconds (fromIntegral n) <= now `since` start)

cancelsItself :: Assertion
cancelsItself = do
  manager <- systemManager
  counter <- newCounter
  own <- newEmptyMVar
  timer <- startPeriodic manager mempty (milliseconds 1) . Run . const $ do
    bump counter
    n <- count counter
    when (n == 3) (readMVar own >>= void . cancelTimer)
  putMVar own timer
  settles counter 3

many :: Assertion
many = withManager $ \manager -> do
  counter <- newCounter
  let total = 100000 :: Int
  timers <- forM [1 .. total] $ \n ->
    startTimer manager (microseconds (n * 7919 `mod` total)) (Run (const (bump counter)))
  let (odd', _) = unzip (filter (odd . snd) (zip timers [1 :: Int ..]))
  cancelled <- length . filter id <$> mapM cancelTimer odd'
  let turn = do
        left <- statTimers <$> managerStatistics manager
        unless (left == 0) (step manager unlimited >> turn)
  turn
  replicateM_ 3 (step manager mempty)
  assertEqual "each once" total . (+ cancelled) =<< count counter

sleeping :: Assertion
sleeping = do
  before <- clock
  sleep (milliseconds 5)
  after <- clock
  assertBool "long enough" (after `since` before >= milliseconds 5)
  (var, _) <- timerVar (milliseconds 5)
  atomically (readTVar var >>= \done -> unless done retry)
  (never, giveUp) <- timerVar (milliseconds 5)
  giveUp
  soon
  False <- readTVarIO never
  pure ()

interrupted :: Assertion
interrupted = do
  done <- newEmptyMVar
  thread <- forkIO (sleep (seconds 3600) >> putMVar done ())
  soon
  killThread thread
  assertEqual "it did not wake up" Nothing =<< tryTakeMVar done
