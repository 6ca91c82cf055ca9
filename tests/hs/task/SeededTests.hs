-- | Runs whose order follows from a seed: equal seeds give equal orders, other seeds other orders.
-- Some orders show faults.
module SeededTests (tests) where

import Capstan.Chan
import Capstan.Task
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List (nub)
import Fibonacci (fibonacci)
import System.IO.Unsafe (unsafeInterleaveIO)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "seeded"
    [ testCase "the same seed, the same order; other seeds, others" $
        forM_ programs $ \(name, program) -> do
          first <- mapM (`traced` program) seeds
          again <- mapM (`traced` program) seeds
          assertEqual name first again
          assertBool (name ++ ": more than one order") (length (nub first) > 2),
      testCase "the same order where a thread outside evaluates what a task needs" $
        forM_ seeds $ \seed -> do
          first <- slowValue >>= \value -> evaluate value >> traced seed (needing value)
          again <- slowValue >>= \value -> begunOutside value >> traced seed (needing value)
          again @?= first,
      testCase "results are what they are without a seed" $
        forM_ seeds $ \seed -> do
          seeded seed (run (`fibonacci` 10)) >>= (@?= 55)
          seeded seed (parallelForReduce (chunk 3 (range 0 100)) (++) [] (\i -> pure [i])) >>= (@?= [0 .. 99])
          seeded seed (parallelFind (range 0 1000) (\i -> pure (if i `mod` 70 == 69 then Just i else Nothing))) >>= (@?= Just 69)
          seeded seed (evaluate (pureFibonacci 12)) >>= (@?= 144),
      testCase "some seed finds a lost update, and finds it again" $ do
        lost <- filterM (fmap (/= 2) . (`seeded` twoDeposits)) seeds
        assertBool "some" (not (null lost))
        assertBool "not all" (length lost < length seeds)
        again <- filterM (fmap (/= 2) . (`seeded` twoDeposits)) seeds
        again @?= lost,
      testCase "a failure cancels the others, and is thrown" $
        forM_ seeds $ \seed -> do
          ended <- newIORef (0 :: Int)
          never <- newEmptyMVar
          let blocked scope = async scope (takeMVar never `finally` atomicModifyIORef' ended (\n -> (n + 1, ())))
          result <- try . seeded seed . run $ \scope -> do
            waiting <- replicateM 3 (blocked scope)
            _ <- async scope (throwIO (userError "seeded"))
            mapM_ await waiting
          either (\e -> show (e :: IOException)) (const "nothing") result @?= "user error (seeded)"
          putMVar never ()
          readIORef ended >>= \n -> assertBool (show n) (n <= 3),
      testCase "an exception to the caller reaches the run" $ do
        never <- newEmptyMVar :: IO (MVar ())
        began <- newEmptyMVar
        ended <- newEmptyMVar
        caller <- forkIO $ do
          result <- try (seeded 1 (run (\scope -> async scope (putMVar began () >> takeMVar never) >>= await)))
          putMVar ended (result == Left ThreadKilled)
        takeMVar began
        killThread caller
        takeMVar ended >>= (@?= True)
        putMVar never (),
      testCase "an exception to the caller is not lost, whenever it comes" $
        forM_ [0 .. 199] $ \i -> do
          never <- newEmptyMVar :: IO (MVar ())
          ended <- newEmptyMVar
          caller <- mask_ (forkIOWithUnmask (\unmask -> try (unmask (seeded i (pure ()) >> takeMVar never)) >>= putMVar ended))
          replicateM_ (i `mod` 20) yield
          throwTo caller (ErrorCall "stop")
          takeMVar ended >>= (@?= Left (ErrorCall "stop"))
          putMVar never (),
      testCase "tasks of those whom others wake are all run" $ do
        box <- newEmptyMVar
        others <- forkIO (forever (putMVar box ()))
        count <- newIORef (0 :: Int)
        let task scope = replicateM 100 (takeMVar box >> async scope (modifyIORef' count (+ 1)))
        seeded 4 (run (\scope -> replicateM_ 20 (async scope (task scope))))
        killThread others
        readIORef count >>= (@?= 2000),
      testCase "pieces have the size that was asked for" $
        forM_ seeds $ \seed -> do
          pieces <- seeded seed (mapChunks (chunk 3 (range 0 1000)) (curry pure))
          map (uncurry subtract) pieces @?= replicate 333 3 ++ [1],
      testCase "who waits for ever is told so" $ do
        result <- try . seeded 3 . run $ \scope -> do
          items <- newBounded 1
          async scope (recv items) >>= await
        either (\BlockedIndefinitelyOnMVar -> "for ever") (const "an item") (result :: Either BlockedIndefinitelyOnMVar ()) @?= "for ever",
      testCase "a deadlock is told where the body would go on with what the task waits for" $ do
        result <- try . seeded 1 . run $ \scope -> do
          items <- newBounded 2
          async scope (mapM_ (send items) [1 .. 5 :: Int]) >>= await
          recv items
        either (\BlockedIndefinitelyOnMVar -> "for ever") (const "an item") (result :: Either BlockedIndefinitelyOnMVar Int) @?= "for ever",
      testCase "tasks that wake each other by an MVar" $
        forM_ seeds $ \seed -> do
          box <- newEmptyMVar
          back <- newEmptyMVar
          let there = replicateM 10 (takeMVar box >>= putMVar back . (+ 1))
              here = forM [1 .. 10] (\i -> putMVar box i >> takeMVar back)
          (answers, _) <- seeded seed (both here there)
          answers @?= [2 .. 11 :: Int],
      testCase "a run in a run is part of it" $ seeded 5 (seeded 6 (run (`fibonacci` 8))) >>= (@?= 21),
      testCase "several runs at once" $ do
        results <- newChan
        forM_ seeds $ \seed -> forkIO (seeded seed (run (`fibonacci` 9)) >>= writeChan results)
        replicateM (length seeds) (readChan results) >>= (@?= map (const 34) seeds)
    ]
  where
    seeds = [0 .. 19]

-- | The events of a program, in their order.
traced :: Int -> ((String -> IO ()) -> IO ()) -> IO [String]
traced seed program = do
  trace <- newIORef []
  seeded seed (program (\event -> atomicModifyIORef' trace (\events -> (event : events, ()))))
  reverse <$> readIORef trace

programs :: [(String, (String -> IO ()) -> IO ())]
programs =
  [ ( "tasks",
      \write -> run $ \scope -> do
        promises <- forM [1 .. 5 :: Int] $ \i -> async scope (write ("begin " ++ show i) >> switchPoint >> write ("end " ++ show i))
        mapM_ await promises
    ),
    ("branches", \write -> void (both (write "left" >> switchPoint >> write "left again") (write "right"))),
    ("a loop", \write -> parallelFor (chunk 1 (range 0 8)) (write . show)),
    ( "a loop that fails",
      \write -> do
        let body i = switchPoint >> write (show i) >> when (i >= 5) (throwIO (ErrorCall (show i)))
        result <- try (parallelFor (chunk 1 (range 0 8)) body)
        write (either (\e -> show (e :: ErrorCall)) (const "no failure") result)
    ),
    ( "channels",
      \write -> run $ \scope -> do
        items <- newBounded 2
        senders <- forM "ab" $ \name -> async scope (forM_ [1 .. 3 :: Int] (\i -> send items (name : show i)))
        _ <- async scope (mapM_ await senders >> close items)
        let receive' = recvMaybe items >>= mapM_ (\item -> write item >> receive')
        replicateM 2 (async scope receive') >>= mapM_ await
    ),
    ( "failures",
      \write -> do
        result <- try . run $ \scope -> do
          promises <- forM [1 .. 4 :: Int] $ \i -> async scope ((switchPoint >> write (show i) >> when (even i) (throwIO (ErrorCall (show i)))) `onException` write ("ended " ++ show i))
          mapM_ await promises
        write (either (\e -> show (e :: ErrorCall)) (const "no failure") result)
    )
  ]

-- | A new value, whose evaluation lets other threads run many times.
slowValue :: IO Int
slowValue = unsafeInterleaveIO (1 <$ replicateM_ 200 yield)

-- | Lets a thread on the Capability of the caller begin to evaluate a value.
begunOutside :: Int -> IO ()
begunOutside value = do
  (here, _) <- threadCapability =<< myThreadId
  _ <- forkOn here (void (evaluate value))
  yield

-- | Four tasks, one of which needs the value.
needing :: Int -> (String -> IO ()) -> IO ()
needing value write = run $ \scope -> do
  promises <- forM [1 .. 4 :: Int] $ \i -> async scope (write (show i) >> when (i == 2) (void (evaluate value)) >> write (show i))
  mapM_ await promises

-- | In some orders both deposits read the balance before one has written it.
twoDeposits :: IO Int
twoDeposits = do
  balance <- newIORef 0
  let deposit = do
        before <- readIORef balance
        switchPoint
        writeIORef balance (before + 1)
  _ <- both deposit deposit
  readIORef balance

pureFibonacci :: Int -> Integer
pureFibonacci n
  | n < 2 = toInteger n
  | otherwise = case bothPure (pureFibonacci (n - 1)) (pureFibonacci (n - 2)) of (a, b) -> a + b
