-- | Pipes, counters and waits, for all tests here.
module Support
  ( newPipe,
    withPipe,
    put,
    takeByte,
    Counter,
    newCounter,
    bump,
    count,
    reaches,
    settles,
    soon,
  )
where

import Control.Concurrent (threadDelay)
import Control.Exception (bracket)
import Control.Monad (void)
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
import Foreign.Marshal.Alloc (allocaBytes)
import System.Posix.IO (FdOption (NonBlockingRead), closeFd, createPipe, fdReadBuf, fdWrite, setFdOption)
import System.Posix.Types (Fd)
import Test.Tasty.HUnit (Assertion, assertEqual)

-- | A pipe whose reading end does not block.
newPipe :: IO (Fd, Fd)
newPipe = do
  ends@(from, _) <- createPipe
  setFdOption from NonBlockingRead True
  pure ends

-- | Gives a pipe to the action and closes it. The action must not close the ends: their numbers
-- could then belong to another file.
withPipe :: ((Fd, Fd) -> IO a) -> IO a
withPipe = bracket newPipe (\(from, to) -> closeFd from >> closeFd to)

put :: Fd -> String -> IO ()
put fd text = void (fdWrite fd text)

takeByte :: Fd -> IO ()
takeByte fd = allocaBytes 1 (\byte -> void (fdReadBuf fd byte 1))

type Counter = IORef Int

newCounter :: IO Counter
newCounter = newIORef 0

bump :: Counter -> IO ()
bump counter = atomicModifyIORef' counter (\n -> (n + 1, ()))

count :: Counter -> IO Int
count = readIORef

-- | Waits until the counter has reached the value; the test's time limit is the only other end.
reaches :: Counter -> Int -> IO ()
reaches counter value = do
  now <- count counter
  if now >= value then pure () else threadDelay 1000 >> reaches counter value

-- | Waits as 'reaches' does, then a while longer: the counter must stay.
settles :: Counter -> Int -> Assertion
settles counter value = do
  reaches counter value
  threadDelay 20000
  assertEqual "no more than that" value =<< count counter

-- | Waits for a while, in which a forbidden event could happen.
soon :: IO ()
soon = threadDelay 20000
