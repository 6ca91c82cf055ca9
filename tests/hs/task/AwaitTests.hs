-- | An exception that interrupts a thread in @await@ does not reach the awaited task.
module AwaitTests (tests) where

import Capstan.Task
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.Maybe (isNothing)
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit

-- | The exception that the tests throw to the waiting thread.
data Hurry = Hurry
  deriving (Eq, Show)

instance Exception Hurry

-- | The task waits until its first await has ended.
gated :: (Promise Int -> IO a) -> IO (a, Int)
gated first = do
  gate <- newEmptyMVar
  run $ \s -> do
    p <- async s (42 <$ takeMVar gate)
    early <- first p
    putMVar gate ()
    (,) early <$> await p

-- | Whether all tasks have results as soon as their scope has ended. The argument opens a scope with
-- the given beginning of a body, and ends it.
allHaveResults :: ((Scope -> IO ()) -> IO a) -> IO ()
allHaveResults open = replicateM_ 300 $ do
  promises <- newIORef []
  _ <- open (\s -> replicateM_ 200 (async s (threadDelay 1000) >>= \p -> modifyIORef promises (p :)))
  outcomes <- readIORef promises >>= mapM poll
  length (filter isNothing outcomes) @?= 0

tests :: TestTree
tests =
  testGroup
    "await"
    [ testCase "tasks of a scope that has ended have results" $ allHaveResults run,
      testCase "tasks of a scope that has failed have results" . allHaveResults $ \begin ->
        try (run (\s -> begin s >> throwIO Hurry)) >>= (@?= (Left Hurry :: Either Hurry ())),
      testCase "tasks of a scope that was cancelled have results" . allHaveResults $ \begin ->
        try (run (\s -> begin s >> cancel s)) >>= (@?= Left Cancelled),
      testCase "tasks whose time is over have results" . allHaveResults $ \begin ->
        runWithin (milliseconds 1) (\s -> begin s >> threadDelay 100000),
      testCase "a deadline spares the task" . replicateM_ 30 $
        gated (timeout 500 . await) >>= (@?= (Nothing, 42)),
      testCase "a deadline in a task spares the task that it awaits" $
        run (\s -> async s (gated (timeout 500 . await)) >>= await) >>= (@?= (Nothing, 42)),
      testCase "what another thread throws, and the caller catches, spares the task" . replicateM_ 30 $ do
        me <- myThreadId
        let hurried p = try (forkIO (throwTo me Hurry) >> await p)
        gated hurried >>= (@?= (Left Hurry, 42)),
      testCase "a deadline reaches no handler of the task" . replicateM_ 30 $ do
        disturbed <- newIORef False
        gate <- newEmptyMVar
        run $ \s -> do
          p <- async s (takeMVar gate `onException` writeIORef disturbed True)
          early <- timeout 500 (await p)
          early @?= Nothing
          putMVar gate 'x'
          await p >>= (@?= 'x')
        readIORef disturbed >>= (@?= False),
      testCase "a deadline spares a task that is awaited from far up the stack" $ do
        let far p n = if n == (0 :: Int) then await p else (+ 1) <$> far p (n - 1)
        gated (\p -> timeout 500 (far p 10)) >>= (@?= (Nothing, 42))
        gated (\p -> timeout 500 (far p 100)) >>= (@?= (Nothing, 42))
        gated (\p -> timeout 500 (far p 100000)) >>= (@?= (Nothing, 42)),
      testCase "results from all heights of the stack" $ do
        let far n = if n == (0 :: Int) then pure 0 else run (\s -> async s (pure n) >>= \p -> (+) <$> far (n - 1) <*> await p)
            farther s n = if n == (0 :: Int) then pure 0 else async s (pure n) >>= \p -> (+) <$> farther s (n - 1) <*> await p
        far 2000 >>= (@?= 2001000)
        run (`farther` 20000) >>= (@?= 200010000),
      testCase "who awaits a task that nobody has begun runs it" $ do
        me <- myThreadId
        runners <- replicateM 1000 (run (\s -> async s myThreadId >>= await))
        assertBool "others ran all" (me `elem` runners),
      testCase "a deadline around the scope ends its tasks" $ do
        begun <- newEmptyMVar
        ended <- newIORef False
        let task = (putMVar begun () >> forever (threadDelay 1000)) `finally` writeIORef ended True
        r <- timeout 20000 (run (\s -> async s task >>= \p -> async s (readMVar begun) >>= await >> await p :: IO ()))
        r @?= Nothing
        started <- tryReadMVar begun
        readIORef ended >>= (@?= (started == Just ())),
      testCase "awaitWithin gives up the wait, not the task" . replicateM_ 30 $ do
        gated (awaitWithin (microseconds 500)) >>= (@?= (Nothing, 42))
        gated (awaitWithin mempty) >>= (@?= (Nothing, 42))
        gated (mask_ . awaitWithin (microseconds 500)) >>= (@?= (Nothing, 42)),
      testCase "awaitWithin in uninterruptibleMask keeps its limit" $ do
        gate <- newEmptyMVar
        -- The task ends by itself after a while, because nothing could interrupt a wait without limit.
        given <- run $ \s -> do
          p <- async s (timeout 5000000 (takeMVar gate))
          uninterruptibleMask_ (awaitWithin (microseconds 500) p) <* putMVar gate ()
        given @?= Nothing,
      testCase "awaitWithin in uninterruptibleMask has the result of a task that ends in time" $
        uninterruptibleMask_ (run (\s -> async s (pure 'x') >>= awaitWithin (seconds 60))) >>= (@?= Just 'x'),
      testCase "awaitWithin has the result of a task that ends in time, or has ended" $ do
        r <- run $ \s -> do
          p <- async s (pure 'x')
          a <- awaitWithin unlimited p
          b <- awaitWithin mempty p
          c <- awaitWithin (seconds 60) =<< async s (pure 'y')
          pure (a, b, c)
        r @?= (Just 'x', Just 'x', Just 'y'),
      testCase "awaitWithin throws what the task threw" $ do
        r <- try (run (\s -> async s (throwIO Hurry) >>= awaitWithin unlimited))
        r @?= (Left Hurry :: Either Hurry (Maybe ()))
    ]
