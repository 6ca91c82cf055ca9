-- | Exceptions, cancellation, deadlines and call stacks.
module FailureTests (tests) where

import Capstan.Task
import Control.Concurrent
import Control.Exception
import Control.Monad
import Control.Monad.ST (runST)
import Data.Either (fromLeft)
import Data.IORef
import Data.List (isInfixOf)
import Data.Maybe (isNothing)
import qualified Data.Vector as Boxed
import qualified Data.Vector.Mutable as Mutable
import GHC.Conc (BlockReason (..), ThreadStatus (..), threadStatus)
import System.IO.Unsafe (unsafeDupablePerformIO)
import System.Mem (performMajorGC)
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit

newtype Broken = Broken Int deriving (Eq, Show)

instance Exception Broken

tests :: TestTree
tests =
  testGroup
    "failures"
    [ testCase "await throws what the task threw" $ do
        r <- try (run (\s -> async s (throwIO (Broken 1)) >>= await))
        (r :: Either Broken ()) @?= Left (Broken 1),
      testCase "a failure that nobody awaits reaches run" $ do
        r <- try (run (\s -> void (async s (void (throwIO (Broken 2))))))
        (r :: Either Broken ()) @?= Left (Broken 2),
      testCase "an expected failure harms nobody" $ do
        r <- run $ \s -> do
          bad <- async s (try (throwIO (Broken 3)))
          good <- async s (pure 'g')
          (,) <$> await bad <*> await good
        r @?= (Left (Broken 3) :: Either Broken (), 'g'),
      testCase "a failing task interrupts the others" . ends $ do
        ready <- newEmptyMVar
        stopped <- newEmptyMVar
        r <- try . run $ \s -> do
          _ <- async s ((putMVar ready () >> forever (threadDelay 1000000)) `onException` putMVar stopped ())
          bad <- async s (takeMVar ready >> throwIO (Broken 4))
          await bad
        (r :: Either Broken ()) @?= Left (Broken 4)
        takeMVar stopped,
      testCase "a scope inside that fails spares the task that is awaited there" . ends $ do
        result <- sparing $ \begun task -> run $ \s -> do
          _ <- async s (begun >> throwIO (Broken 18))
          await task
        result @?= (Left (Broken 18), 's'),
      testCase "a branch that fails spares the task that the other awaits" . ends $ do
        result <- sparing $ \begun task -> snd <$> both (begun >> void (throwIO (Broken 19))) (await task)
        result @?= (Left (Broken 19), 's'),
      testCase "a failing task interrupts the body" . ends $ do
        r <- try . run $ \s -> do
          _ <- async s (void (throwIO (Broken 5)))
          forever (threadDelay 1000000)
        (r :: Either Broken ()) @?= Left (Broken 5),
      testCase "a failing body interrupts the tasks" . ends $ do
        ready <- newEmptyMVar
        stopped <- newIORef False
        r <- try . run $ \s -> do
          _ <- async s ((putMVar ready () >> forever (threadDelay 1000000)) `onException` writeIORef stopped True)
          takeMVar ready
          void (throwIO (Broken 6))
        (r :: Either Broken ()) @?= Left (Broken 6)
        -- The scope must have waited for its task.
        readIORef stopped >>= (@?= True),
      testCase "a failed scope starts no task" $ do
        ran <- newIORef False
        r <- try . run $ \s -> do
          p <- async s (void (throwIO (Broken 7)))
          _ <- try (await p) :: IO (Either SomeException ())
          void (async s (writeIORef ran True))
        (r :: Either Broken ()) @?= Left (Broken 7)
        readIORef ran >>= (@?= False),
      testCase "cancel" . ends $ do
        r <- try . run $ \s -> do
          _ <- async s (forever (threadDelay 1000000))
          cancel s
          forever (threadDelay 1000000)
        (r :: Either Cancelled ()) @?= Left Cancelled,
      testCase "left throws" $ do
        r <- try (both (throwIO (Broken 8)) (pure ()))
        (r :: Either Broken ((), ())) @?= Left (Broken 8),
      testCase "right throws" $ do
        r <- try (both (pure ()) (throwIO (Broken 9)))
        (r :: Either Broken ((), ())) @?= Left (Broken 9),
      testCase "right throws while left runs on" . ends $ do
        started <- newEmptyMVar
        r <- try (both (takeMVar started >> forever (threadDelay 1000000)) (putMVar started () >> throwIO (Broken 10)))
        (r :: Either Broken ((), ())) @?= Left (Broken 10),
      testCase "left throws while right runs on" . ends $ do
        started <- newEmptyMVar
        stopped <- newIORef False
        let right = (putMVar started () >> forever (threadDelay 1000000)) `onException` writeIORef stopped True
        r <- try (both (takeMVar started >> throwIO (Broken 11)) right)
        (r :: Either Broken ((), ())) @?= Left (Broken 11)
        readIORef stopped >>= (@?= True),
      testCase "right is interrupted and throws something else" . ends $ do
        started <- newEmptyMVar
        let right = (putMVar started () >> forever (threadDelay 1000000)) `onException` throwIO (Broken 17)
        r <- try (both (takeMVar started >> throwIO (Broken 16)) right)
        (r :: Either Broken ((), ())) @?= Left (Broken 16),
      testCase "both throw at once, many times" . ends . forM_ [1 .. 2000] $ \i -> do
        r <- try (both (yield >> throwIO (Broken i)) (yield >> throwIO (Broken i)))
        (r :: Either Broken ((), ())) @?= Left (Broken i),
      testCase "a failure deep in a tree of forks" . ends $ do
        running <- newIORef (0 :: Int)
        let tree :: Int -> IO ()
            tree 0 = throwIO (Broken 12)
            tree n = bracket_ (change 1) (change (-1)) (void (both (tree (n - 1)) (pure ())))
            change d = atomicModifyIORef' running (\k -> (k + d, ()))
        r <- try (tree 1000)
        (r :: Either Broken ()) @?= Left (Broken 12)
        readIORef running >>= (@?= 0),
      testCase "a loop's failure" . ends $ do
        r <- try (parallelFor (chunk 1 (range 0 10000)) (\i -> when (i == 7777) (throwIO (Broken i))))
        (r :: Either Broken ()) @?= Left (Broken 7777),
      testCase "a failure in pure code" $ do
        r <- try (evaluate (fst (bothPure 'a' (throw (Broken 13) :: Char))))
        r @?= Left (Broken 13),
      testCase "an asynchronous exception reaches the whole tree" . ends $ killTree,
      testCase "an exception to a caller whose scope has failed is not lost" . ends $ killFailed,
      testCase "a task that is blocked for ever is told so" . ends $ do
        -- A worker must run the task: GHC never finds a thread with a time limit to be blocked for
        -- ever.
        r <- try (run (\s -> async s (newEmptyMVar >>= takeMVar) >>= mask_ . await))
        either (\BlockedIndefinitelyOnMVar -> True) (\() -> False) r @?= True,
      testCase "and so is one that nobody awaits" . ends $ do
        r <- try (run (\s -> void (async s (newEmptyMVar >>= takeMVar :: IO ()))))
        either (\BlockedIndefinitelyOnMVar -> True) (\() -> False) r @?= True
        -- The workers must not have taken the exception for their own.
        run (\s -> async s (pure 'w') >>= mask_ . await) >>= (@?= 'w'),
      testCase "a body that is blocked for ever is told so" . ends $ do
        r <- unknown (run (\_ -> newEmptyMVar >>= takeMVar :: IO ()))
        either show show r @?= show BlockedIndefinitelyOnMVar,
      testGroup "who awaits one that waits for him is told so, and that one too" (map (uncurry toldOfCircle) circles),
      testCase "but not one that has a deadline" . ends $ do
        collector <- forkIO (forever (performMajorGC >> threadDelay 10000))
        r <- unknown (runWithin (milliseconds 100) (\_ -> newEmptyMVar >>= takeMVar)) `finally` killThread collector
        either show show (r :: Either SomeException (Maybe ())) @?= "Nothing",
      testGroup "a failure goes before that of who is blocked for ever because of it" blockedByFailure,
      testCase "a deadline" . ends $ do
        r <- runWithin (milliseconds 20) $ \s -> do
          _ <- async s (forever (threadDelay 1000000))
          forever (threadDelay 1000000)
        assertBool "ran out" (isNothing (r :: Maybe ())),
      testCase "a deadline in time" $ runWithin (seconds 10) (\s -> async s (pure 'z') >>= await) >>= (@?= Just 'z'),
      testCase "a deadline of forks without end" . ends . replicateM_ 5 $ do
        let endless :: IO ()
            endless = void (both endless endless)
        r <- runWithin (milliseconds 10) (const endless)
        assertBool "ran out" (isNothing r),
      testCase "a deadline of forks without end in pure code" . ends . replicateM_ 5 $ do
        let endless :: Int -> Int
            endless n = case bothPure (endless (n + 1)) (endless (n + 2)) of (a, b) -> a + b
        r <- runWithin (milliseconds 10) (\_ -> evaluate (endless 0))
        assertBool "ran out" (isNothing r),
      testCase "a deadline ends what is inside only" . ends $ do
        stopped <- newIORef False
        gate <- newEmptyMVar
        let limited = runWithin (milliseconds 10) (\_ -> void (both (forever (threadDelay 1000)) (forever (threadDelay 1000))))
        r <- both (limited >>= \x -> x <$ putMVar gate ()) (takeMVar gate `onException` writeIORef stopped True)
        r @?= (Nothing, ())
        readIORef stopped >>= (@?= False),
      testCase "a failure reaches what a branch has forked while that branch cannot be interrupted" . ends $ do
        let fails = do
              begun <- newEmptyMVar
              stopped <- newEmptyMVar
              never <- newEmptyMVar
              let branch = both (uninterruptibleMask_ (takeMVar stopped)) ((putMVar begun () >> takeMVar never) `onException` putMVar stopped ())
              r <- try (both (takeMVar begun >> throwIO Overflow) branch)
              r @?= (Left Overflow :: Either ArithException ((), ((), ())))
        replicateM_ 20 fails
        forM_ [1 .. 20] (`seeded` fails),
      testCase "a failure spares the branches of who has masked exceptions" . ends $ do
        begun <- newEmptyMVar
        gate <- newEmptyMVar
        cleaned <- newIORef False
        let clean = uninterruptibleMask_ (both (putMVar begun () >> takeMVar gate) (takeMVar gate) >> writeIORef cleaned True)
        r <- try . run $ \s -> do
          _ <- async s clean
          takeMVar begun
          uninterruptibleMask_ (cancel s >> replicateM_ 2 (putMVar gate ()))
        (r :: Either Cancelled ()) @?= Left Cancelled
        readIORef cleaned >>= (@?= True),
      testGroup "a value whose evaluation was interrupted is evaluated when it is needed again" (map (uncurry evaluatedAgain) values),
      testCase "a value that two evaluate at once leaves neither of them masked" . ends $ forM_ [1 .. 300] twoEvaluate,
      testCase "the call stack survives" callStackSurvives
    ]

-- | Deadlocks in which a thread awaits a task.
circles :: [(String, IO ())]
circles =
  [ ( "two tasks",
      run $ \s -> do
        box <- newEmptyMVar
        p <- async s (takeMVar box >>= await)
        q <- async s (await p)
        putMVar box q
        await q
    ),
    ( "a task itself",
      run $ \s -> do
        box <- newEmptyMVar
        p <- async s (takeMVar box >>= await)
        putMVar box p
        mask_ (await p)
    ),
    ( "a task itself, and nobody else",
      run $ \s -> do
        box <- newEmptyMVar
        async s (takeMVar box >>= await) >>= putMVar box
    ),
    ( "a body that has what the task waits for",
      run $ \s -> do
        box <- newEmptyMVar
        () <- mask_ . await =<< async s (takeMVar box)
        putMVar box ()
    )
  ]

toldOfCircle :: String -> IO () -> TestTree
toldOfCircle name program = testCase name . ends . replicateM_ 5 $ do
  r <- unknown program
  either show show r @?= show BlockedIndefinitelyOnMVar

-- | Values that are 42, and run their argument during the evaluation.
values :: [(String, IO () -> Int)]
values =
  [ ("bothPure, left", \step -> uncurry (+) (bothPure (before step 40) 2)),
    ("bothPure, right", \step -> uncurry (+) (bothPure 2 (before step 40))),
    ("both, left", \step -> runST (uncurry (+) <$> unsafeBoth (pure $! before step 40) (pure 2))),
    ("both, right", \step -> runST (uncurry (+) <$> unsafeBoth (pure 2) (pure $! before step 40))),
    ("both in both", \step -> runST (uncurry (+) <$> unsafeBoth (pure 2) (uncurry (+) <$> unsafeBoth (pure $! before step 30) (pure 10)))),
    ("a loop", \step -> runST (unsafeParallelForReduce (chunk 1 (range 0 43)) (+) 0 (\i -> if i == 20 then pure $! before step 1 else pure (min 1 i)))),
    ("a sort", \step -> runST (sorted (before step))),
    ("a scan", \step -> Boxed.last (parallelScan (\a b -> if b == 5000 then before step a else min 42 (a + b)) (Boxed.enumFromN 0 9000)))
  ]
  where
    before step x = unsafeDupablePerformIO (x <$ step)
    {-# NOINLINE before #-}
    sorted step = do
      v <- Boxed.thaw (Boxed.fromList (reverse [0 .. 4095]))
      parallelSortBy (\a b -> if a == 2000 && b == 1999 then step (compare a b) else compare a b) v
      Mutable.read v 42

-- | Kills a thread in the middle of an evaluation, three times, and then evaluates the value.
evaluatedAgain :: String -> (IO () -> Int) -> TestTree
evaluatedAgain name make = testCase name . ends . replicateM_ 20 $ do
  begun <- newEmptyMVar
  gate <- newEmptyMVar
  let value = make (tryPutMVar begun () >> readMVar gate)
      blocked thread = do
        status <- threadStatus thread
        unless (status == ThreadBlocked BlockedOnMVar) (yield >> blocked thread)
  forM_ [1 .. 3 :: Int] $ \n -> do
    ended <- newEmptyMVar
    thread <- mask_ (forkIOWithUnmask (\unmasked -> try (unmasked (evaluate value)) >>= putMVar ended))
    when (n == 1) (takeMVar begun)
    blocked thread
    killThread thread
    takeMVar ended >>= either (@?= ThreadKilled) (\_ -> assertFailure "was not interrupted")
  putMVar gate ()
  evaluate value >>= (@?= 42)

-- | GHC lets two threads begin to evaluate the same value, and stops one of them when it notices.
twoEvaluate :: Int -> IO ()
twoEvaluate n = do
  let value = tree 13
      tree :: Int -> Int
      tree 0 = n `div` n
      tree k = uncurry (+) (if even k then bothPure (tree (k - 1)) (tree (k - 1)) else runST (unsafeBoth (pure $! tree (k - 1)) (pure $! tree (k - 1))))
  ends' <- forM [0, 1] $ \place -> do
    end <- newEmptyMVar
    _ <- forkOn place (evaluate value >>= \x -> getMaskingState >>= \state -> putMVar end (x, state))
    pure end
  mapM takeMVar ends' >>= (@?= replicate 2 (8192, Unmasked))

-- | One computation fails, and another waits for the value that it would have written. This happens
-- in a scope, in a fork, and inside a task for which the body of another scope waits.
blockedByFailure :: [TestTree]
blockedByFailure = concat [[fails name program, fails (name ++ " inside") (inside program)] | (name, program) <- programs]
  where
    programs =
      [ ("a body", \box bad -> run (\s -> async s bad >> takeMVar box)),
        ("a task", \box bad -> run (\s -> async s (takeMVar box) >>= \p -> async s bad >> mask_ (await p))),
        ("the left branch", \box bad -> void (both (takeMVar box) bad)),
        ("the right branch", \box bad -> void (both bad (takeMVar box)))
      ]
    inside program box bad = run $ \s -> do
      outer <- newEmptyMVar
      _ <- async s (program box bad >>= putMVar outer)
      takeMVar outer
    fails name program = testCase name . ends . forM_ [1 .. 5] $ \n -> do
      box <- newEmptyMVar
      r <- unknown (program box (broken n box))
      either fromException (const Nothing) r @?= Just (Broken n)
    -- After the exception nothing fills the box, and the collector notices this before any thread.
    broken n box =
      (threadDelay 1000 >> throwIO (Broken n) >>= putMVar box)
        `onException` uninterruptibleMask_ (replicateM_ 3 (performMajorGC >> threadDelay 1000))

-- | Runs an action in a thread to which no other thread can throw: GHC never finds a thread with a
-- time limit to be blocked for ever.
unknown :: IO a -> IO (Either SomeException a)
unknown action = do
  over <- newEmptyMVar
  _ <- forkIO (try action >>= putMVar over)
  takeMVar over

-- | Fails if the action hangs, sooner than by the limit of the whole test.
ends :: IO () -> IO ()
ends action = timeout 60000000 action >>= maybe (assertFailure "did not end") pure

-- | Kills the thread that opened a scope, when ten of its members have begun; these must have ended
-- when the scope ends.
killTree :: IO ()
killTree = do
  begun <- newEmptyMVar
  ended <- newIORef (0 :: Int)
  over <- newEmptyMVar
  let member = (putMVar begun () >> forever (threadDelay 1000000)) `onException` atomicModifyIORef' ended (\n -> (n + 1, ()))
  thread <- forkIO $ do
    r <- try (run (\s -> replicateM_ 10 (async s member >> async s (both member member)) >> forever (threadDelay 1000000)))
    putMVar over (r :: Either AsyncException ())
  replicateM_ 10 (takeMVar begun)
  killThread thread
  r <- takeMVar over
  r @?= Left ThreadKilled
  n <- readIORef ended
  assertBool ("at least those ten have ended: " ++ show n) (n >= 10)

-- | The caller is killed when the body has thrown and a task cannot be interrupted yet.
killFailed :: IO ()
killFailed = do
  begun <- newEmptyMVar
  gate <- newEmptyMVar
  ready <- newEmptyMVar
  over <- newEmptyMVar
  thread <- forkIO $ do
    r <- try . run $ \s -> do
      _ <- async s (uninterruptibleMask_ (putMVar begun () >> takeMVar gate))
      takeMVar begun
      putMVar ready ()
      void (throwIO (Broken 14))
    putMVar over (fromLeft (toException (Broken 15)) r)
  takeMVar ready
  -- The exception arrives when the body has thrown, or in the body. It takes precedence in both
  -- cases.
  killThread thread
  putMVar gate ()
  e <- takeMVar over
  fromException e @?= Just ThreadKilled

-- | The outcome of an await inside a computation that fails when the task has begun, and the task's
-- own result later.
sparing :: (IO () -> Promise Char -> IO Char) -> IO (Either Broken Char, Char)
sparing awaiting = run $ \scope -> do
  begun <- newEmptyMVar
  gate <- newEmptyMVar
  task <- async scope (putMVar begun () >> takeMVar gate >> pure 's')
  r <- try (awaiting (takeMVar begun) task)
  putMVar gate ()
  (,) r <$> await task

inner :: HasCallStack => IO Int
inner = error "deep down"

callStackSurvives :: IO ()
callStackSurvives = do
  r <- try (run (\s -> async s (void inner >> pure ()) >>= await))
  case r of
    Left e -> do
      let shown = show (e :: ErrorCall)
      assertBool shown ("deep down" `isInfixOf` shown && "inner" `isInfixOf` shown)
    Right () -> assertFailure "no exception"
