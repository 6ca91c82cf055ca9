-- | Each target is reached from descriptors, timers and posts.
module TargetTests (tests) where

import Capstan.Event
import Control.Concurrent (forkIO, threadDelay)
import Control.Concurrent.MVar
import Control.Monad (join, replicateM_, void)
import Data.IORef
import Foreign.C.Types (CInt (..))
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr (FunPtr, IntPtr (..), Ptr, intPtrToPtr, nullPtr)
import Foreign.Storable (peek, poke)
import GHC.Conc (TVar, atomically, newTVarIO, readTVar, readTVarIO, retry, writeTVar)
import Support
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

foreign import ccall "&test_fd_function" fdFunction :: FunPtr (Callback Ready)

foreign import ccall "&test_timer_function" timerFunction :: FunPtr (Callback Expiry)

foreign import ccall "&test_post_function" postFunction :: FunPtr (Callback ())

foreign import ccall "&test_fd_calls" fdCalls :: Ptr CInt

foreign import ccall "&test_timer_calls" timerCalls :: Ptr CInt

foreign import ccall "&test_post_calls" postCalls :: Ptr CInt

foreign import ccall "&test_data" dataSeen :: Ptr (Ptr ())

foreign import ccall safe "test_detached" detached :: Ptr (Ptr ()) -> Ptr CInt -> IO CInt

tests :: TestTree
tests =
  testGroup
    "targets"
    [ testCase "an MVar, and one that is full" variables,
      testCase "a transaction" transactions,
      testCase "a C function" functions,
      testCase "an OpenMP task" tasks
    ]

variables :: Assertion
variables = withPipe $ \(from, to) -> withManager $ \manager -> do
  full <- newMVar (Ready (-1) mempty)
  filled <- newEmptyMVar
  fired <- newEmptyMVar
  posted <- newEmptyMVar
  put to "x"
  _ <- register manager from readable OneShot Level (Fill full)
  _ <- register manager from readable OneShot Level (Fill filled)
  _ <- startTimer manager mempty (Fill fired)
  postTo manager (Fill posted)
  threadDelay 1000
  replicateM_ 3 (step manager mempty)
  assertEqual "kept" (Ready (-1) mempty) =<< takeMVar full
  assertEqual "filled" (Just (Ready from readable)) =<< tryTakeMVar filled
  assertEqual "fired" (Just (Expiry 1)) =<< tryTakeMVar fired
  assertEqual "posted" (Just ()) =<< tryTakeMVar posted

transactions :: Assertion
transactions = withPipe $ \(from, to) -> do
  manager <- systemManager
  var <- newTVarIO []
  let record :: Show a => TVar [String] -> a -> Target a -> Target a
      record _ _ target = target
      noting x = Transact (\value -> readTVar var >>= writeTVar var . ((x : show value) :))
  put to "x"
  _ <- register manager from readable OneShot Level (record var (Ready 0 mempty) (noting 'd'))
  _ <- startTimer manager mempty (noting 't')
  postTo manager (noting 'p')
  seen <- atomically (readTVar var >>= \list -> if length list == 3 then pure list else retry)
  assertEqual "all three" "dpt" (sortOn3 (concatMap (take 1) seen))
  final <- readTVarIO var
  assertEqual "and no more" 3 (length final)
  where
    sortOn3 list = [c | c <- "dpt", c `elem` list]

functions :: Assertion
functions = withPipe $ \(from, to) -> do
  manager <- systemManager
  let context n = intPtrToPtr (IntPtr n)
      await place value = do
        now <- peek place
        if now >= value then pure () else threadDelay 1000 >> await place value
  put to "x"
  _ <- register manager from readable OneShot Level (Call fdFunction (context 1))
  await fdCalls 1
  assertEqual "its data" (context 1) =<< peek dataSeen
  _ <- startTimer manager mempty (Call timerFunction (context 2))
  await timerCalls 1
  assertEqual "its data" (context 2) =<< peek dataSeen
  postTo manager (Call postFunction (context 3))
  await postCalls 1
  assertEqual "its data" (context 3) =<< peek dataSeen
  -- A timer that was ended is not called.
  timer <- startTimer manager (milliseconds 2) (Call timerFunction nullPtr)
  True <- cancelTimer timer
  soon
  assertEqual "cancelled" 1 =<< peek timerCalls
  -- A timer that an action of the same batch ends is not called either.
  withManager $ \own -> do
    end <- newIORef (pure False)
    result <- newEmptyMVar
    _ <- startTimer own mempty (Run (const (join (readIORef end) >>= putMVar result)))
    second <- startTimer own mempty (Call timerFunction nullPtr)
    writeIORef end (cancelTimer second)
    threadDelay 1000
    assertEqual "one batch" 2 =<< step own mempty
    assertEqual "its answer" True =<< takeMVar result
    assertEqual "cancelled" 1 =<< peek timerCalls

tasks :: Assertion
tasks = alloca $ \event -> alloca $ \completed -> do
  manager <- systemManager
  result <- newEmptyMVar
  poke event nullPtr
  poke completed 0
  void . forkIO $ detached event completed >>= putMVar result
  let await = peek event >>= \e -> if e == nullPtr then threadDelay 1000 >> await else pure e
  handle <- await
  poke completed 1
  _ <- startTimer manager (milliseconds 2) (Complete (EventHandle handle))
  assertEqual "its dependent ran after it" 1 =<< takeMVar result
