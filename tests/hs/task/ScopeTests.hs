{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- | Scopes, promises, forks and pools. Several mirror the test programs of Domainslib by behaviour.
module ScopeTests (tests) where

import Capstan.Capability (capabilityNumber)
import Capstan.Exception (InvalidArgument)
import Capstan.Task
import Capstan.Task.Pool (Pool (ended))
import Control.Concurrent
import Control.Concurrent.STM (atomically, newTVarIO, readTVar, readTVarIO, retry, writeTVar)
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List (isInfixOf)
import Data.Maybe (catMaybes, isJust, isNothing)
import Fibonacci (fibonacci)
import GHC.Conc (ThreadId (..))
import GHC.Exts (ThreadId#)
import System.Mem (performMajorGC)
import System.Mem.Weak (deRefWeak)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "scopes"
    [ testCase "an empty scope" (run (const (pure ())) >>= (@?= ())),
      testCase "a result" (run (\s -> async s (pure 'x') >>= await) >>= (@?= 'x')),
      testCase "awaited twice, and after the scope" $ do
        promise <- run $ \s -> do
          p <- async s (pure (5 :: Int))
          a <- await p
          b <- await p
          a + b @?= 10
          pure p
        await promise >>= (@?= 5)
        found <- poll promise
        assertBool "poll" (maybe False (either (const False) (== 5)) found),
      testCase "nothing starts in a scope that is over" $ do
        scope <- run pure
        result <- try (async scope (pure 'x'))
        either (@?= ScopeEnded) (const (assertFailure "it started")) result,
      testCase "nothing starts in a pool that is over" $ do
        pool <- withPool "over" 2 pure
        result <- try (runOn pool (\s -> async s (pure ())))
        either (\e -> e @?= PoolEnded "over") (const (assertFailure "it started")) result
        either (\e -> assertBool (show e) ("runOn: the pool \"over\"" `isInfixOf` show e)) (const (pure ())) result
        parallelForReduce (onPool pool (chunk 1 (range 0 10))) (+) 0 pure >>= (@?= 45),
      testCase "a pool of a size that no program means" $ do
        result <- try (withPool "huge" maxBound (const (pure ())))
        either (\e -> assertBool (show e) (all (`isInfixOf` show (e :: InvalidArgument)) ["\"huge\"", show (maxBound :: Int), "65536"])) (const (assertFailure "it was made")) result,
      testCase "recursion" (run (`fibonacci` 20) >>= (@?= 6765)),
      testCase "recursion by forks" (forks 20 >>= (@?= 6765)),
      testCase "recursion in pure code" (pureForks 20 @?= 6765),
      testCase "tasks that nobody awaits have ended" $ do
        count <- newIORef (0 :: Int)
        run $ \s -> replicateM_ 5000 (async s (atomicModifyIORef' count (\n -> (n + 1, ()))))
        readIORef count >>= (@?= 5000),
      testCase "the stack of a worker does not grow with its tasks" $ do
        most <- newIORef 0
        run $ \s -> replicateM_ 50000 (async s (stackWords >>= \n -> atomicModifyIORef' most (\m -> (max m n, ()))))
        n <- readIORef most
        assertBool (show n ++ " words") (n < 10000),
      testCase "tasks that tasks start have ended" $ do
        count <- newIORef (0 :: Int)
        let grow :: Scope -> Int -> IO ()
            grow s n = do
              atomicModifyIORef' count (\k -> (k + 1, ()))
              when (n > 0) (replicateM_ 2 (async s (grow s (n - 1))))
        run (`grow` 11)
        readIORef count >>= (@?= 4095),
      testCase "each runs once" $ do
        marks <- replicateM 3000 (newIORef (0 :: Int))
        run $ \s -> do
          promises <- forM marks $ \mark -> async s (atomicModifyIORef' mark (\n -> (n + 1, ())))
          mapM_ await promises
        counts <- mapM readIORef marks
        assertBool "once" (all (== 1) counts),
      testCase "one dependency" $ do
        x <- run $ \s -> do
          a <- async s (pure (1 :: Int))
          b <- async s ((+ 1) <$> await a)
          await b
        x @?= 2,
      testCase "a chain of dependencies" $ do
        x <- run $ \s -> do
          first <- async s (pure (0 :: Int))
          final <- foldM (\p _ -> async s ((+ 1) <$> await p)) first [1 .. 2000 :: Int]
          await final
        x @?= 2000,
      testCase "a diamond of dependencies" $ do
        x <- run $ \s -> do
          a <- async s (pure (3 :: Int))
          bs <- replicateM 100 (async s (await a))
          c <- async s (sum <$> mapM await bs)
          await c
        x @?= 300,
      testCase "a task lower on the stack is no deadlock" awaitBelow,
      testCase "tasks wait for each other through MVars" handshake,
      testCase "tasks wait for each other through STM" stmHandshake,
      testCase "tasks that are woken together spread over the Capabilities" spread,
      testCase "a blocked body leaves its tasks to others" $ do
        box <- newEmptyMVar
        run $ \s -> do
          _ <- async s (putMVar box 'y')
          takeMVar box >>= (@?= 'y'),
      testCase "a scope in a task in a scope" $ do
        x <- run $ \s -> do
          p <- async s (run (\inner -> sum <$> (mapM (async inner . pure) [1 .. 10 :: Int] >>= mapM await)))
          await p
        x @?= 55,
      testCase "awaited with exceptions masked" $ do
        x <- run (\s -> async s getMaskingState >>= mask_ . await)
        x @?= Unmasked,
      testCase "a pool has a name and a size, for a time" $ do
        withPool "small" 1 $ \pool -> do
          poolName pool @?= "small"
          poolSize pool >>= (@?= 1)
          found <- lookupPool "small"
          assertBool "found" (isJust found)
          runOn pool (`fibonacci` 15) >>= (@?= 610)
          bothOn pool (pure 'a') (pure 'b') >>= (@?= ('a', 'b'))
        found <- lookupPool "small"
        assertBool "gone" (isNothing found),
      testCase "a pool that has ended leaves nothing" . forM_ [\_ -> pure (), \pool -> runOn pool (`fibonacci` 5) >>= (@?= 5)] $ \work -> do
        kept <- replicateM 200 (withPool "brief" 2 (\pool -> work pool >> mkWeakIORef (ended pool) (pure ())))
        performMajorGC
        alive <- length . catMaybes <$> mapM deRefWeak kept
        -- A thread that has counted itself out may have to return from its last function.
        assertBool (show alive ++ " pools are alive") (alive <= 10),
      testCase "a pool runs no more tasks at once than its size" smallPool
    ]

-- | The words of the calling thread's stack.
stackWords :: IO Int
stackWords = myThreadId >>= \(ThreadId thread) -> wordsOf thread

foreign import ccall unsafe "capstan_test_stack_words" wordsOf :: ThreadId# -> IO Int

forks :: Int -> IO Int
forks n | n < 2 = pure n
forks n = uncurry (+) <$> both (forks (n - 1)) (forks (n - 2))

pureForks :: Int -> Int
pureForks n | n < 2 = n
pureForks n = case bothPure (pureForks (n - 1)) (pureForks (n - 2)) of (a, b) -> a + b

-- | The first task begins, and waits for a task that starts later and awaits a sibling of the
-- first.
awaitBelow :: IO ()
awaitBelow = do
  x <- run $ \s -> do
    gate <- newEmptyMVar
    a <- async s (takeMVar gate >>= await)
    b <- async s (pure (1 :: Int))
    c <- async s (putMVar gate b >> ((+) <$> await a <*> await b))
    await c
  x @?= 2

handshake :: IO ()
handshake = do
  there <- newEmptyMVar
  back <- newEmptyMVar
  xs <- run $ \s -> do
    a <- async s (forM [1 .. 100 :: Int] (\i -> putMVar there i >> takeMVar back))
    b <- async s (replicateM_ 100 (takeMVar there >>= putMVar back . (* 2)))
    await b
    await a
  xs @?= map (* 2) [1 .. 100]

stmHandshake :: IO ()
stmHandshake = do
  turn <- newTVarIO (0 :: Int)
  let play s me = async s . forM_ [0 .. 49] $ \k -> atomically $ do
        now <- readTVar turn
        if now == 3 * k + me then writeTVar turn (now + 1) else retry
  run (\s -> mapM (play s) [2, 1, 0] >>= mapM_ await)
  readTVarIO turn >>= (@?= 150)

smallPool :: IO ()
smallPool = withPool "narrow" 1 $ \pool -> do
  inside <- newIORef (0 :: Int)
  most <- newIORef (0 :: Int)
  runOn pool $ \s -> do
    replicateM_ 200 . async s $ do
      n <- atomicModifyIORef' inside (\n -> (n + 1, n + 1))
      atomicModifyIORef' most (\m -> (max m n, ()))
      evaluate (sum [1 .. 1000 :: Int]) >>= \x -> when (x < 0) (putStrLn "never")
      atomicModifyIORef' inside (\k -> (k - 1, ()))
  readIORef most >>= (@?= 1)

-- | Tasks that have begun, and that one 'putMVar' wakes. GHC moves some of them to a Capability that
-- idles, unless their workers are locked to the Capabilities where the tasks began.
spread :: Assertion
spread = do
  have <- getNumCapabilities
  when (have > 1) (attempts 1000)
  where
    attempts 0 = assertFailure "each task ended where it had begun"
    attempts n = once >>= \moved -> unless moved (attempts (n - 1 :: Int))
    once = do
      gate <- newEmptyMVar
      begun <- newIORef (0 :: Int)
      places <- run $ \scope -> do
        tasks <- replicateM 16 . async scope $ do
          before <- capabilityNumber
          atomicModifyIORef' begun (\k -> (k + 1, ()))
          readMVar gate
          _ <- evaluate (length (show (product [1 .. 500 :: Integer])))
          (,) before <$> capabilityNumber
        untilAll begun
        putMVar gate ()
        mapM await tasks
      pure (any (uncurry (/=)) places)
    untilAll begun = readIORef begun >>= \k -> when (k < 16) (threadDelay 100 >> untilAll begun)
