-- | Large numbers of tasks, deep recursion, full rings, and random exceptions.
module StressTests (tests) where

import Capstan.Domain (fetchAdd, newAtomicInt, readAtomicInt)
import Capstan.Task
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Fibonacci (fibonacci)
import System.Mem (performMajorGC)
import Test.Tasty
import Test.Tasty.HUnit
import qualified TreeTests

tests :: TestTree
tests =
  testGroup
    "stress"
    [ testCase "a million tasks alive at once" $ do
        total <- run $ \s -> do
          promises <- forM [1 .. 1000000] (async s . evaluate)
          sum <$> mapM await promises
        total @?= (500000500000 :: Int),
      testCase "recursion a hundred thousand deep" $ do
        let deep :: Int -> IO Int
            deep 0 = pure 0
            deep n = uncurry (+) <$> both (deep (n - 1)) (pure 1)
        deep 100000 >>= (@?= 100000),
      testCase "awaits a hundred thousand deep" $ do
        let deep :: Scope -> Int -> IO Int
            deep _ 0 = pure 0
            deep s n = (+ 1) <$> (async s (deep s (n - 1)) >>= await)
        run (`deep` 100000) >>= (@?= 100000),
      testCase "pure recursion a hundred thousand deep" $ do
        let deep :: Int -> Int
            deep 0 = 0
            deep n = case bothPure (deep (n - 1)) (1 :: Int) of (a, b) -> a + b
        deep 100000 @?= 100000,
      testCase "many scopes from many threads" $ do
        done <- newEmptyMVar
        forM_ [1 .. 20 :: Int] $ \i -> forkIO $ do
          xs <- forM [1 .. 50] $ \j -> run (\s -> mapM (async s . pure) [i .. i + j] >>= fmap sum . mapM await)
          putMVar done (xs == [sum [i .. i + j] | j <- [1 .. 50]])
        results <- replicateM 20 (takeMVar done)
        assertBool "all" (and results),
      testCase "all tasks change one reference" $ do
        total <- newIORef (0 :: Int)
        run $ \s -> forM_ [1 .. 30000 :: Int] $ \_ -> async s (atomicModifyIORef' total (\n -> (n + 1, ())))
        readIORef total >>= (@?= 30000),
      testCase "twenty thousand tasks wait at one gate" $ do
        gate <- newEmptyMVar
        passed <- newAtomicInt 0
        run $ \s -> do
          forM_ [1 .. 20000 :: Int] $ \_ -> async s (readMVar gate >> void (fetchAdd passed 1))
          async s (putMVar gate ()) >>= await
        readAtomicInt passed >>= (@?= 20000),
      testCase "collections meanwhile" $ do
        collector <- forkIO (forever (performMajorGC >> threadDelay 1000))
        x <- run (`fibonacci` 21) `finally` killThread collector
        x @?= 10946,
      testCase "scopes that fail at any moment" . forM_ [0 .. 300] $ \delay -> do
        live <- newAtomicInt 0
        let count = void . fetchAdd live
            busy :: Scope -> Int -> IO ()
            busy s n = bracket_ (count 1) (count (-1)) . when (n > 0) $ do
              p <- async s (busy s (n - 1))
              _ <- both (busy s (n - 2)) yield
              await p
        r <- runWithin (microseconds (delay * 20)) (`busy` 14)
        left <- readAtomicInt live
        assertEqual ("after " ++ show (delay, r)) 0 left,
      testCase "forks that are killed at any moment" . forM_ [0 .. 300] $ \delay -> do
        live <- newAtomicInt 0
        over <- newEmptyMVar
        let count = void . fetchAdd live
            busy :: Int -> IO ()
            busy n = bracket_ (count 1) (count (-1)) . when (n > 0) $ void (both (busy (n - 1)) (busy (n - 2)))
        -- The thread is masked from the start: without it a kill before its first step would leave
        -- @over@ empty.
        thread <- mask_ $ forkIOWithUnmask (\unmask -> try (unmask (busy 18)) >>= \r -> putMVar over (r :: Either SomeException ()))
        threadDelay (delay * 20)
        killThread thread
        _ <- takeMVar over
        readAtomicInt live >>= (@?= 0),
      TreeTests.tests
    ]
