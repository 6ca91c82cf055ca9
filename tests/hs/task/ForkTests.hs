-- | Tasks in the child of @forkProcess@, which has none of the parent's threads.
module ForkTests (tests) where

import Capstan.Task
import Control.Concurrent (forkIO)
import Control.Concurrent.MVar
import Control.Exception (finally)
import Control.Monad
import Data.IORef
import System.Exit (ExitCode (..))
import System.Posix.Process (ProcessStatus (..), exitImmediately, forkProcess, getProcessStatus)
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "the child of a fork"
    [ testCase "tasks that nobody awaits" (inChild notAwaited),
      testCase "tasks that wait for each other" (inChild waiting),
      testCase "branches that wait for each other" (inChild branches),
      testCase "in a scope of the parent's" . run $ \scope -> do
        gate <- newEmptyMVar
        blocked <- replicateM 20 (async scope (readMVar gate))
        inChild (notAwaited >> waiting)
        putMVar gate 'x'
        mapM await blocked >>= (@?= replicate 20 'x'),
      testCase "in a pool of the parent's" . withPool "parent's" 2 $ \pool -> do
        runOn pool (\scope -> replicateM_ 20 (async scope (pure ())))
        inChild . runOn pool $ \scope -> do
          box <- newEmptyMVar
          taken <- async scope (takeMVar box)
          _ <- async scope (putMVar box ())
          await taken,
      testCase "what the parent has started is not run" . run $ \scope -> do
        ran <- newIORef (0 :: Int)
        -- More tasks than the workers can have taken before the fork: each taken task blocks its
        -- worker.
        gate <- newEmptyMVar
        replicateM_ 2000 (async scope (readMVar gate >> modifyIORef' ran (+ 1)))
        inChild $ do
          putMVar gate ()
          notAwaited
          readIORef ran >>= (@?= 0)
        putMVar gate (),
      testCase "from several threads at once" . inChild $ do
        ends <- forM [1 .. 4 :: Int] $ \_ -> newEmptyMVar >>= \end -> end <$ forkIO (notAwaited >> putMVar end ())
        mapM_ takeMVar ends,
      testCase "a child's child" . inChild $ notAwaited >> inChild (notAwaited >> waiting)
    ]
  where
    notAwaited = do
      ran <- newIORef (0 :: Int)
      run (\scope -> replicateM_ 100 (async scope (atomicModifyIORef' ran (\n -> (n + 1, ())))))
      readIORef ran >>= (@?= 100)
    waiting = run $ \scope -> do
      box <- newEmptyMVar
      taken <- async scope (takeMVar box)
      _ <- async scope (putMVar box 'y')
      await taken >>= (@?= 'y')
    branches = do
      box <- newEmptyMVar
      both (takeMVar box) (putMVar box 'z') >>= (@?= ('z', ()))

-- | Runs an action in a child, which must end well and in time.
inChild :: IO () -> Assertion
inChild action = do
  child <- forkProcess . (`finally` exitImmediately (ExitFailure 3)) $ do
    ended <- timeout 30000000 action
    exitImmediately (maybe (ExitFailure 4) (const ExitSuccess) ended)
  getProcessStatus True False child >>= (@?= Just (Exited ExitSuccess))
