-- | Bound threads, such as a program's main thread, start tasks and wait for them. A worker of the
-- same Capability is then woken only when it is needed.
module BoundTests (tests) where

import Capstan.Domain (capabilityNumber, spawnOn)
import qualified Capstan.Domain as Domain
import Capstan.Task
import Control.Concurrent
import Control.Exception (bracket, try)
import Control.Monad
import Data.IORef
import Data.List (nub)
import Fibonacci (fibonacci)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "bound threads"
    [ testCase "scopes, forks and loops" . runInBoundThread $ do
        run (`fibonacci` 18) >>= (@?= 2584)
        both (pure 'a') (pure 'b') >>= (@?= ('a', 'b'))
        replicateM_ 50 $ parallelForReduce (chunk 10 (range 0 10000)) (+) 0 pure >>= (@?= 49995000)
        order <- newIORef (0 :: Int)
        parallelForAfter (range 0 100) (\i -> [i - 1 | i > 0]) (\i -> atomicModifyIORef' order (\n -> (if n == i then n + 1 else n, ())))
        readIORef order >>= (@?= 100),
      testCase "a failure on another Capability arrives" . runInBoundThread $ do
        result <- try (parallelFor (chunk 1 (range 0 1000)) (\i -> when (i == 700) (ioError (userError "700"))))
        result @?= Left (userError "700"),
      testCase "the caller of a loop stays on its Capability until the end" . runInBoundThread $ do
        places <- replicateM 20 placesOfCaller
        forM_ places $ \same -> assertBool ("it was on " ++ show same) (length (nub same) <= 1)
        assertBool "it ran nothing" (not (all null places))
        (_, stays) <- threadCapability =<< myThreadId
        assertBool "it stays afterwards" (not stays),
      testCase "who waits for what a task does otherwise than by await" . runInBoundThread . occupied $
        replicateM_ 20 $ do
          box <- newEmptyMVar
          run (\scope -> async scope (putMVar box 'x') >> takeMVar box) >>= (@?= 'x'),
      testCase "the caller runs tasks that it awaits from deep in its stack" . runInBoundThread . occupied $ do
        me <- myThreadId
        own <- replicateM 20 . run $ \scope -> do
          promises <- replicateM 300 (async scope myThreadId)
          length . filter (== me) <$> mapM await promises
        maximum own @?= 300,
      testCase "who computes until a task has run" . runInBoundThread . occupied $ do
        done <- newIORef False
        run $ \scope -> async scope (writeIORef done True) >> computeUntil done
    ]

-- | The Capabilities on which the caller of a loop ran its indices. While a thread waits for
-- another thread's index, its Capability idles, and the caller is not the only thread that could
-- run.
placesOfCaller :: IO [Int]
placesOfCaller = do
  here <- capabilityNumber
  places <- newIORef []
  bracket (forkOnWithUnmask here (\unmask -> unmask (forever yield))) killThread $ \_ ->
    parallelForAfter (range 0 400) (\i -> [i - 1 | i > 0]) $ \_ -> do
      replicateM_ 20 yield
      isCaller <- isCurrentThreadBound
      when isCaller (capabilityNumber >>= \place -> modifyIORef' places (place :))
  reverse <$> readIORef places

-- | Runs an action while all other Capabilities compute.
occupied :: IO a -> IO a
occupied action = do
  here <- capabilityNumber
  capabilities <- getNumCapabilities
  over <- newIORef False
  bracket
    (forM [n | n <- [0 .. capabilities - 1], n /= here] (\n -> spawnOn n (computeUntil over)))
    (\others -> writeIORef over True >> mapM_ Domain.join others)
    (const action)

computeUntil :: IORef Bool -> IO ()
computeUntil over = newIORef 0 >>= go
  where
    go value = readIORef over >>= \stop -> unless stop (turn value >> go value)

-- | Computes for about a tenth of a millisecond. It hardly allocates, so that there is no
-- collection.
turn :: IORef Int -> IO ()
turn value = modifyIORef' value (`go` (30000 :: Int))
  where
    go seed 0 = seed
    go seed n = go ((seed * 1103515245 + 12345) `mod` 2147483648) (n - 1)
