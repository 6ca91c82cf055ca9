-- | Managers: driven by hand, by threads, through exceptions and after forks.
module ManagerTests (tests) where

import Capstan.Event
import Capstan.Event.Manager (stepUntilSome)
import Control.Concurrent
import Control.Exception
import Control.Monad (forM, forM_, replicateM, replicateM_, unless, void, when)
import Data.IORef
import Data.List (isInfixOf)
import Data.Maybe (catMaybes)
import Support
import System.Exit (ExitCode (..))
import System.Mem (performMajorGC)
import System.Mem.Weak (deRefWeak)
import System.Posix.Process (ProcessStatus (..), exitImmediately, forkProcess, getProcessStatus)
import System.Timeout (timeout)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "managers"
    [ testCase "posts run in order, on one thread" posts,
      testCase "loop, step and shutdown" ownLoop,
      testCase "a wake-up is no turn" wakeUps,
      testCase "shutdown tells what is pending" pending,
      testCase "what is left of a manager that has ended answers" escaped,
      testCase "an exception disturbs no other action" exceptions,
      testCase "an asynchronous exception ends the loop and loses nothing" asynchronous,
      testCase "a loop that sleeps can be interrupted" interruptedLoop,
      testCase "at any moment" interruptedAnywhere,
      testCase "actions are not masked, nor what they fork" notMasked,
      testCase "a system manager outlives what its actions throw" outlives,
      testCase "an action that blocks is counted" blocking,
      testCase "one driver at a time" oneDriver,
      testCase "a manager for each Capability" capabilities,
      testCase "actions that ended are garbage" garbage,
      testCase "many threads" threads,
      testCase "the child of forkProcess" forks,
      testCase "a manager of one's own in the child" forkedOwn
    ]

-- A timer that is due before the end of the sleep wakes the manager, and nothing runs.
wakeUps :: Assertion
wakeUps = withManager $ \manager -> do
  ran <- newIORef False
  result <- newEmptyMVar
  _ <- forkIO (stepUntilSome manager >>= putMVar result)
  forM_ [20, 19 .. 1] $ \n -> startTimer manager (seconds (1000 * n)) (Run (const (pure ()))) >> threadDelay 1000
  post manager (writeIORef ran True)
  assertBool "something ran" =<< takeMVar result
  assertBool "before it returned" =<< readIORef ran
  shutdown manager
  assertBool "what was pending" =<< stepUntilSome manager
  assertBool "then no more" . not =<< stepUntilSome manager

escaped :: Assertion
escaped = withPipe $ \(from, _) -> replicateM_ 100 $ do
  (manager, watch, timer) <- withManager $ \manager -> do
    watch <- register manager from readable Persistent Level (Run (const (pure ())))
    timer <- startTimer manager (seconds 1000) (Run (const (pure ())))
    pure (manager, watch, timer)
  -- Another manager would have its memory by now.
  others <- replicateM 3 newManager
  assertEqual "unregister" False =<< unregister watch
  assertEqual "change" False =<< change watch writable
  assertEqual "cancel" False =<< cancelTimer timer
  assertEqual "reschedule" False =<< reschedule timer mempty
  refused "post" (post manager (pure ()))
  refused "register" (register manager from readable Persistent Level (Run (const (pure ()))))
  refused "start" (startTimer manager mempty (Run (const (pure ()))))
  assertEqual "step" 0 =<< step manager unlimited
  loop manager
  counts <- managerStatistics manager
  assertEqual "nothing is there" (0, 0) (statWatches counts, statTimers counts)
  freeManager manager
  mapM_ freeManager others
  where
    refused name action = do
      outcome <- try action
      case outcome of
        Left e -> void (evaluate (length (show (e :: IOError))))
        Right _ -> assertFailure (name ++ " is not refused")

posts :: Assertion
posts = do
  manager <- systemManager
  seen <- newIORef []
  done <- newEmptyMVar
  forM_ [1 .. 1000 :: Int] $ \n -> post manager (modifyIORef' seen (n :))
  post manager (putMVar done ())
  takeMVar done
  assertEqual "in order" [1000, 999 .. 1] =<< readIORef seen

ownLoop :: Assertion
ownLoop = do
  manager <- newManager
  counter <- newCounter
  finished <- newEmptyMVar
  void (forkIO (loop manager >> putMVar finished ()))
  post manager (bump counter)
  reaches counter 1
  _ <- startTimer manager (milliseconds 1) (Run (const (shutdown manager)))
  takeMVar finished
  assertEqual "nothing left to do" 0 =<< step manager unlimited
  refused <- try (post manager (bump counter))
  case refused :: Either IOError () of
    Left e -> assertBool (show e) ("post: illegal operation (the manager was shut down)" `isInfixOf` show e)
    Right () -> assertFailure "a post after the shutdown"
  freeManager manager

pending :: Assertion
pending = withPipe $ \(from, _) -> do
  told <- newIORef []
  let note text = modifyIORef told (text :)
  withManager $ \manager -> do
    _ <- register manager from readable OneShot Level (Run (note . show . readyEvents))
    _ <- startTimer manager (seconds 3600) (Run (note . show . expirations))
    gone <- startTimer manager (seconds 3600) (Run (note . show))
    True <- cancelTimer gone
    post manager (note "posted")
  list <- readIORef told
  assertEqual "each once" 3 (length list)
  forM_ ["[closed]", "0", "posted"] $ \text -> assertBool text (text `elem` list)

exceptions :: Assertion
exceptions = withManager $ \manager -> do
  caught <- newIORef []
  counter <- newCounter
  setExceptionHandler manager (\e -> modifyIORef caught (show e :))
  forM_ [1 .. 10 :: Int] $ \n -> do
    post manager (when (even n) (throwIO (userError (show n))))
    post manager (bump counter)
    _ <- startTimer manager mempty (Run (const (void (evaluate (1 `div` (0 :: Int))))))
    pure ()
  threadDelay 1000
  replicateM_ 5 (step manager mempty)
  assertEqual "the others ran" 10 =<< count counter
  assertEqual "each was reported" 15 . length =<< readIORef caught

-- | An exception comes to the thread while an action runs. That action ends, and the others run in
-- the next loop.
asynchronous :: Assertion
asynchronous = withManager $ \manager -> do
  inside <- newEmptyMVar
  result <- newEmptyMVar
  counter <- newCounter
  bumpsBefore <- newCounter
  post manager (bump bumpsBefore)
  post manager (putMVar inside () >> threadDelay 10000000)
  replicateM_ 20 (post manager (bump counter))
  driver <- forkIO (try (loop manager) >>= putMVar result)
  takeMVar inside
  killThread driver
  ended <- takeMVar result
  assertEqual "the loop's end" (Left ThreadKilled) ended
  assertEqual "before it" 1 =<< count bumpsBefore
  assertEqual "not yet" 0 =<< count counter
  _ <- step manager mempty
  assertEqual "all of them" 20 =<< count counter

interruptedLoop :: Assertion
interruptedLoop = withManager $ \manager -> do
  stopped <- timeout 20000 (loop manager)
  assertEqual "by the timeout" Nothing stopped
  counter <- newCounter
  post manager (bump counter)
  1 <- step manager mempty
  before <- clock
  0 <- step manager (milliseconds 5)
  after <- clock
  assertBool "it waited" (after `since` before >= milliseconds 5)

-- | The exception comes while the loop begins to sleep, sleeps or wakes; the loop must always end.
-- It may also come during an action, and end that action, but no action runs twice.
interruptedAnywhere :: Assertion
interruptedAnywhere = do
  masked <- interrupting id
  assertEqual "each ran once" 300 masked
  unmasked <- mask $ \restore -> restore (interrupting restore)
  assertBool ("none ran twice: " ++ show unmasked) (unmasked <= 300)

-- | The number of actions that ran, out of 300, one for each interrupted loop.
interrupting :: (IO () -> IO ()) -> IO Int
interrupting restore = withManager $ \manager -> do
  counter <- newCounter
  forM_ [1 .. 300 :: Int] $ \n -> do
    ended <- newEmptyMVar
    driver <- mask_ $ forkOn n (try (restore (loop manager)) >>= putMVar ended)
    post manager (bump counter)
    replicateM_ (n `mod` 50) yield
    killThread driver
    result <- takeMVar ended
    assertEqual "the loop's end" (Left ThreadKilled) result
  let rest = step manager mempty >>= \left -> unless (left == 0) rest
  rest
  count counter

-- | Actions run unmasked, whether the manager's first user was masked or not.
notMasked :: Assertion
notMasked = withManager $ \own -> do
  found <- newEmptyMVar
  let ask = getMaskingState >>= putMVar found
  post own (ask >> void (forkIO ask))
  _ <- step own mempty
  replicateM_ 2 (takeMVar found >>= assertEqual "a manager of one's own" Unmasked)
  n <- getNumCapabilities
  forM_ [0 .. n - 1] $ \c -> do
    _ <- forkOn c (mask_ (systemManager >>= \manager -> post manager (ask >> void (forkIO ask))))
    replicateM_ 2 (takeMVar found >>= assertEqual "the system's" Unmasked)

outlives :: Assertion
outlives = do
  manager <- systemManager
  heard <- newEmptyMVar
  setExceptionHandler manager (\e -> getMaskingState >>= putMVar heard . (,) e)
  post manager (throwIO ThreadKilled)
  (first, masked) <- takeMVar heard
  assertEqual "what was thrown" (Just ThreadKilled) (fromException first)
  assertEqual "how the handler runs" Unmasked masked
  post manager (throwIO (userError "x"))
  assertEqual "and for what is meant for actions" Unmasked . snd =<< takeMVar heard
  setExceptionHandler manager (const (throwIO (userError "by the handler itself")))
  post manager (throwIO (userError "y"))
  done <- newEmptyMVar
  post manager (putMVar done ())
  takeMVar done
  setExceptionHandler manager throwIO

blocking :: Assertion
blocking = withManager $ \manager -> do
  post manager (pure ())
  _ <- step manager mempty
  0 <- step manager mempty
  0 <- statSlow <$> managerStatistics manager
  post manager (threadDelay 600000)
  _ <- step manager mempty
  0 <- step manager mempty
  now <- managerStatistics manager
  assertEqual "one slow batch" 1 (statSlow now)
  assertBool "its length" (statSlowest now >= milliseconds 590)

oneDriver :: Assertion
oneDriver = withManager $ \manager -> do
  result <- newEmptyMVar
  post manager (try (step manager mempty) >>= putMVar result)
  1 <- step manager mempty
  second <- takeMVar result
  case second :: Either IOError Int of
    Left _ -> pure ()
    Right _ -> assertFailure "two drivers"

capabilities :: Assertion
capabilities = do
  n <- getNumCapabilities
  places <- forM [0 .. n - 1] $ \c -> do
    result <- newEmptyMVar
    void . forkOn c $ do
      manager <- systemManager
      post manager (myThreadId >>= threadCapability >>= putMVar result)
    takeMVar result
  assertEqual "each on its own" [(c, True) | c <- [0 .. n - 1]] places

-- | C gives back the memory of ended registrations.
garbage :: Assertion
garbage = withPipe $ \(from, to) -> withManager $ \manager -> do
  put to "x"
  weak <- forM [1 .. 50 :: Int] $ \n -> do
    counter <- newIORef n
    let action = modifyIORef' counter (+ 1)
    w <- mkWeakIORef counter (pure ())
    once <- register manager from readable OneShot Level (Run (const action))
    always <- register manager from readable Persistent Level (Run (const action))
    timer <- startTimer manager (if even n then mempty else seconds 3600) (Run (const action))
    post manager action
    when (n `mod` 3 == 0) (void (unregister once))
    when (n `mod` 5 == 0) (replicateM_ 2 (step manager mempty))
    void (unregister always)
    void (cancelTimer timer)
    pure w
  replicateM_ 5 (step manager mempty)
  performMajorGC
  left <- length . catMaybes <$> mapM deRefWeak weak
  assertEqual "nothing is kept" 0 left

threads :: Assertion
threads = do
  done <- forM [1 .. 8 :: Int] $ \_ -> do
    result <- newEmptyMVar
    void . forkIO . withPipe $ \(from, to) -> do
      manager <- systemManager
      counter <- newCounter
      forM_ [1 .. 200] $ \n -> do
        watch <- register manager from readable Persistent Level . Run $ \ready ->
          unless (readyEvents ready `intersects` closed) (takeByte (readyFd ready) >> bump counter)
        put to "x"
        reaches counter n
        void (unregister watch)
      putMVar result =<< count counter
    pure result
  assertEqual "each byte once" (replicate 8 200) =<< mapM takeMVar done

forks :: Assertion
forks = withPipe $ \(from, to) -> do
  _ <- systemManager
  child <- forkProcess . (`finally` exitImmediately (ExitFailure 3)) $ do
    counter <- newCounter
    manager <- systemManager
    _ <- register manager from readable OneShot Level (Run (const (bump counter)))
    _ <- startTimer manager (milliseconds 1) (Run (const (put to "x")))
    reaches counter 1
    exitImmediately ExitSuccess
  status <- getProcessStatus True False child
  assertEqual "the child" (Just (Exited ExitSuccess)) status

-- | The thread that drove the manager in the parent does not exist in the child.
forkedOwn :: Assertion
forkedOwn = do
  manager <- newManager
  counter <- newCounter
  finished <- newEmptyMVar
  void (forkIO (loop manager >> putMVar finished ()))
  post manager (bump counter)
  reaches counter 1
  child <- forkProcess . (`finally` exitImmediately (ExitFailure 3)) $ do
    post manager (bump counter)
    1 <- step manager unlimited
    2 <- count counter
    exitImmediately ExitSuccess
  status <- getProcessStatus True False child
  assertEqual "the child" (Just (Exited ExitSuccess)) status
  shutdown manager
  takeMVar finished
