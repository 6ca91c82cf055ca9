-- | Exceptions from other threads, around regions.
module AsynchronousTests (tests) where

import CFunctions
import Capstan.Callback
import Check
import Control.Concurrent
import Control.Exception
import Control.Monad (forM_, forever, replicateM_, unless, void, when)
import Data.IORef
import Data.Maybe (fromMaybe)
import Foreign.Marshal.Array (peekArray, withArray)
import Foreign.Storable (peekElemOff, poke)
import GHC.Conc (BlockReason (..), ThreadStatus (..), threadStatus)
import System.Timeout (timeout)

tests :: [Test]
tests =
  [ test "an interrupted caller waits for the region" waits,
    test "killThread waits for a region without callbacks" silent,
    test "an interruptible caller" interrupts,
    test "callbacks that wait are interrupted" interruptsEvaluation,
    test "an interruption that a callback keeps to itself" swallowed,
    test "a callback that waits for ever, and could be interrupted" waitsForEver,
    test "many threads that could be interrupted" manyThreads,
    test "killThread of a caller" killed,
    test "timeout in a callback" inside,
    test "exceptions for the threads that evaluate callbacks" bombarded
  ]

modes :: [Mode]
modes = [Released, Kept]

-- | All calls are made, although the exception was thrown long before.
waits :: IO ()
waits = forM_ modes $ \mode -> do
  calls <- newIORef (0 :: Int)
  begun <- newEmptyMVar
  caller <- myThreadId
  thrower <- forkIO (takeMVar begun >> throwTo caller Overflow)
  let function _ = do
        n <- atomicModifyIORef' calls (\n -> (n + 1, n))
        when (n == 0) $ putMVar begun () >> untilThrown thrower
        pure 1
  e <- throws $ withCallback mode function (\f -> regionSum f 2 100) >> untilTaken
  equal "exception" Overflow e
  equal "calls" 200 =<< readIORef calls

-- | The exception is thrown while the region runs, and is received when the region has ended.
silent :: IO ()
silent = when rtsSupportsBoundThreads . withArray [0, 0, 0] $ \words' -> do
  ended <- newEmptyMVar
  caller <- forkIO (try (regionUntil 3 words' >> untilTaken) >>= putMVar ended)
  untilAll words'
  killer <- forkIO (killThread caller)
  untilThrown killer
  poke words' 1
  takeMVar ended >>= equal "outcome" (Left ThreadKilled)
  peekArray 3 words' >>= equal "words" [1, 3, 3]
  where
    untilAll words' = do
      begun <- peekElemOff words' 1
      unless (begun == 3) $ threadDelay 100 >> untilAll words'

-- | Waits until the thrower is blocked in its throw.
untilThrown :: ThreadId -> IO ()
untilThrown thrower = do
  status <- threadStatus thrower
  unless (status == ThreadBlocked BlockedOnException) $ threadDelay 100 >> untilThrown thrower

-- | Waits until a thrown exception arrives. GHC's scheduler delivers an exception from another
-- Capability, so it may arrive a little after the region's end.
untilTaken :: IO ()
untilTaken = forever (threadDelay 1000000)

-- | Callbacks return zero after the exception.
interrupts :: IO ()
interrupts = forM_ modes $ \mode -> do
  calls <- newIORef (0 :: Int)
  begun <- newEmptyMVar
  caller <- myThreadId
  _ <- forkIO (takeMVar begun >> throwTo caller Overflow)
  let function _ = do
        n <- atomicModifyIORef' calls (\n -> (n + 1, n))
        when (n == 0) $ putMVar begun ()
        threadDelay 1000
        pure 1
  e <- throws . withInterruptibleCallback mode function $ \f -> regionSum f 2 100000
  equal "exception" Overflow e
  n <- readIORef calls
  equal "not all calls" True (n < 200000)

-- | All threads of the region are in a callback that would last for an hour.
interruptsEvaluation :: IO ()
interruptsEvaluation = forM_ modes $ \mode -> do
  caller <- myThreadId
  waiting <- newIORef (0 :: Int)
  let function x = do
        n <- atomicModifyIORef' waiting (\n -> (n + 1, n + 1))
        when (n == 3) . void . forkIO $ throwTo caller Overflow
        threadDelay 3600000000
        pure x
  e <- throws . withInterruptibleCallback mode function $ \f -> regionSum f 3 100
  equal "exception" Overflow e
  equal "calls" 3 =<< readIORef waiting

-- | The exception is thrown to one evaluation, and to no later one.
swallowed :: IO ()
swallowed = forM_ modes $ \mode -> do
  caller <- myThreadId
  caught <- newIORef (0 :: Int)
  let function x = do
        _ <- forkIO $ throwTo caller Overflow
        threadDelay 3600000000 `catch` \e -> do
          equal "thrown to the callback" Overflow e
          modifyIORef' caught (+ 1)
        pure x
  e <- throws . withInterruptibleCallback mode function $ \f -> regionSum f 1 100
  equal "exception" Overflow e
  equal "caught" 1 =<< readIORef caught
  got <- withCallback mode (pure . (+ 1)) $ \f -> regionSum f 2 10
  equal "sum of another" 110 got

-- | The callback's record of the threads does not keep them alive.
waitsForEver :: IO ()
waitsForEver = forM_ modes $ \mode -> do
  let function _ = newEmptyMVar >>= takeMVar
  e <- findingDeadlocks . throws . withInterruptibleCallback mode function $ \f -> regionSum f 1 3
  equal "exception" (show BlockedIndefinitelyOnMVar) (show (e :: BlockedIndefinitelyOnMVar))

-- | Outside regions each call has its own thread.
manyThreads :: IO ()
manyThreads = forM_ modes $ \mode -> do
  got <- withInterruptibleCallback mode (pure . (* 2)) $ \f -> sum <$> mapM (regionSum f 2) [1 .. 300]
  equal "sum" (2 * sum [n * (n - 1) | n <- [1 .. 300]]) got

killed :: IO ()
killed = forM_ modes $ \mode -> replicateM_ 20 $ do
  begun <- newEmptyMVar
  ended <- newEmptyMVar
  let function x = tryPutMVar begun () >> pure x
  caller <-
    forkIO $
      void (withInterruptibleCallback mode function (\f -> replicateM_ 50 (regionSum f 2 100)))
        `finally` putMVar ended ()
  takeMVar begun
  killThread caller
  takeMVar ended

-- | The exception stays within the callback.
inside :: IO ()
inside = do
  never <- newEmptyMVar
  let function x = fromMaybe x <$> timeout 1000 (takeMVar never)
  got <- withCallback Released function $ \f -> regionSum f 2 5
  equal "sum" 20 got

-- | Exceptions come at any moment: during an evaluation, while C goes on, after another exception.
-- Each exception ends a callback, or comes too late.
bombarded :: IO ()
bombarded = forM_ modes $ \mode -> replicateM_ 30 $ do
  threads <- newIORef []
  over <- newIORef False
  ended <- newEmptyMVar
  let throwing = do
        readIORef threads >>= mapM_ (`throwTo` Overflow)
        yield
        readIORef over >>= \stop -> unless stop throwing
      function x = do
        thread <- myThreadId
        unmasked <- (== Unmasked) <$> getMaskingState
        atomicModifyIORef' threads (\known -> ([thread | thread `notElem` known] ++ known, ()))
        pure (if unmasked then x + 1 else 0)
  _ <- forkIO (throwing `finally` putMVar ended ())
  outcome <- try (withCallback mode function $ \f -> regionSum f 2 500)
  writeIORef over True
  takeMVar ended
  either (equal "exception" Overflow) (equal "sum" (2 * 125250)) outcome
