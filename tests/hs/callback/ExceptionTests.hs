-- | Exceptions: of callbacks, and of the C call's caller.
module ExceptionTests (tests) where

import CFunctions
import Capstan.Callback
import Check
import Control.Concurrent (killThread, myThreadId, rtsSupportsBoundThreads)
import Control.Exception
import Control.Monad (forM_, replicateM_, when)
import Data.IORef
import Data.List (isInfixOf)

tests :: [Test]
tests =
  [ test "the first exception is the caller's" first,
    test "later calls return zero at once" zero,
    test "exceptions inside of regions in callbacks" inner,
    test "the body's own exception" own,
    test "a callback's exception comes before the body's" before,
    test "a callback that kills its own thread" suicide,
    test "an unsafe call is refused" refused,
    test "a forked child is refused" forked,
    test "a worker without bound threads is refused" workers
  ]

newtype Number = Number Int deriving (Eq, Show)

instance Exception Number

modes :: [Mode]
modes = [Released, Kept]

-- | The caller gets the exception of one of the callbacks, after the region has ended.
first :: IO ()
first = forM_ modes $ \mode -> forM_ [1, 2, 4] $ \threads -> replicateM_ 20 $ do
  thrown <- newIORef []
  ended <- newIORef False
  let function x = do
        e <- atomicModifyIORef' thrown (\es -> let e = Number (length es) in (es ++ [e], e))
        when (x > 2) $ throwIO e
        pure x
  Number n <- throws . withCallback mode function $ \f -> do
    s <- regionSum f threads 50
    writeIORef ended True
    pure s
  es <- readIORef thrown
  equal "one of them" True (Number n `elem` es)
  equal "after the region" True =<< readIORef ended

-- | The C code runs on, and gets zeros.
zero :: IO ()
zero = forM_ modes $ \mode -> do
  calls <- newIORef (0 :: Int)
  summed <- newIORef 0
  let function x = do
        atomicModifyIORef' calls (\n -> (n + 1, ()))
        when (x == 10) $ throwIO (Number 10)
        pure 1
  Number _ <- throws . withCallback mode function $ \f -> regionSum f 1 1000 >>= writeIORef summed
  equal "calls" 11 =<< readIORef calls
  equal "sum" 10 =<< readIORef summed

inner :: IO ()
inner = forM_ modes $ \mode -> do
  let deepest x = if x == 1 then throwIO (Number 3) else pure x
      outer x = withCallback mode deepest (\f -> regionSum f 2 2) `catch` \(Number n) -> pure (x + fromIntegral n)
  got <- withCallback mode outer $ \f -> regionSum f 2 2
  equal "sum" (2 * (3 + 4)) got

own :: IO ()
own = do
  Number n <- throws (withCallback Released pure (\f -> regionSum f 2 2 >> throwIO (Number 5)) :: IO ())
  equal "number" 5 n

before :: IO ()
before = do
  Number n <- throws (withCallback Released (const (throwIO (Number 1))) (\f -> regionSum f 2 2 >> throwIO (Number 2)) :: IO ())
  equal "number" 1 n

-- | The exception kills a thread that evaluates callbacks for the region, and the caller gets it.
suicide :: IO ()
suicide = forM_ modes $ \mode -> do
  e <- throws . withCallback mode (\_ -> myThreadId >>= killThread >> pure 1) $ \f -> regionSum f 2 10
  equal "exception" ThreadKilled e

refused :: IO ()
refused = forM_ modes $ \mode -> forM_ teams $ \threads -> do
  CallbackRefused reason <- throws . withCallback mode pure $ \f -> unsafeRegionSum f threads 10
  equal reason True ("import it safe" `isInfixOf` reason)
  where
    -- Without bound threads a worker is refused too, for another reason, and the caller is told the
    -- first.
    teams = if rtsSupportsBoundThreads then [1, 2, 3] else [1]

-- | The child gets zero, as after an exception; the parent goes on.
forked :: IO ()
forked = forM_ modes $ \mode -> do
  got <- withCallback mode (\x -> pure (x + 1)) $ \f -> do
    child <- callInChild f
    here <- regionOfOne f 2 0
    pure (child, here)
  equal "child and parent" (1, 1) got

-- | The region runs, and the master may call.
workers :: IO ()
workers = forM_ modes $ \mode -> do
  master <- withCallback mode (\x -> pure (x + 5)) $ \f -> regionOfOne f 2 0
  equal "master" 5 master
  worker <- try . withCallback mode (\x -> pure (x + 5)) $ \f -> regionOfOne f 2 1
  case worker of
    Right got -> equal "worker" (True, 6) (rtsSupportsBoundThreads, got)
    Left (CallbackRefused reason) ->
      equal reason (False, True) (rtsSupportsBoundThreads, "link it with -threaded" `isInfixOf` reason)
