-- | Registrations: the events of an action, their number, and the end.
module DescriptorTests (tests) where

import Capstan.Event
import Control.Concurrent (forkIO, forkOn, killThread, myThreadId, threadCapability, threadDelay)
import Control.Concurrent.MVar
import Control.Exception (finally, try)
import Control.Monad (forM_, replicateM_, void, when)
import Data.IORef
import Data.List (isInfixOf)
import GHC.Conc (atomically)
import Support
import System.Posix.IO (dupTo)
import qualified System.Posix.IO as Posix
import System.Posix.Types (Fd)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "descriptors"
    [ testCase "a persistent registration is told each time" persistent,
      testCase "level: again while it is ready; edge: once" levelAndEdge,
      testCase "a one-shot is told once" oneShot,
      testCase "one-shot or unregister, never both, never neither" eitherOr,
      testCase "an action ends itself and another that is due" endsOthers,
      testCase "change to writable and to nothing" changes,
      testCase "the end of a pipe" endOfPipe,
      testCase "closeFd tells all" closeTells,
      testCase "closing tells who comes meanwhile" closingTells,
      testCase "closing leaves the number's next owner alone" closingLeaves,
      testCase "a descriptor that is not open is refused" notOpen,
      testCase "awaitFd, awaitFdSTM" awaits,
      testCase "a thread that waits can be killed" killed
    ]

-- | An action that reads a byte and counts.
reading :: Counter -> Target Ready
reading counter = Run $ \ready -> takeByte (readyFd ready) >> bump counter

persistent :: Assertion
persistent = withPipe $ \(from, to) -> do
  manager <- systemManager
  counter <- newCounter
  watch <- register manager from readable Persistent Level (reading counter)
  assertEqual "the descriptor" from (watchFd watch)
  forM_ [1 .. 100] $ \n -> put to "x" >> reaches counter n
  ended <- unregister watch
  assertBool "it was registered" ended
  again <- unregister watch
  assertBool "not any more" (not again)
  put to "x"
  settles counter 100

levelAndEdge :: Assertion
levelAndEdge = withPipe $ \(from, to) -> withManager $ \manager -> do
  counter <- newCounter
  let told trigger = do
        _ <- register manager from readable Persistent trigger (Run (const (bump counter)))
        put to "x"
        replicateM_ 5 (step manager mempty)
        n <- count counter
        writeIORef counter 0
        pure n
  level <- told Level
  assertEqual "in each turn" 5 level
  closeFdWith (const (pure ())) from -- ends the registration, and leaves the descriptor open
  _ <- step manager mempty
  writeIORef counter 0
  takeByte from
  edge <- told Edge
  assertEqual "when it begins" 1 edge

oneShot :: Assertion
oneShot = withPipe $ \(from, to) -> do
  manager <- systemManager
  counter <- newCounter
  put to "stays readable"
  forM_ [1 .. 10] $ \n -> do
    watch <- register manager from readable OneShot Level (Run (const (bump counter)))
    reaches counter n
    ended <- unregister watch
    assertBool "it has fired" (not ended)
  settles counter 10

eitherOr :: Assertion
eitherOr = withPipe $ \(from, to) -> do
  manager <- systemManager
  put to "stays readable"
  forM_ [1 .. 1000 :: Int] $ \n -> do
    counter <- newCounter
    watch <- register manager from readable OneShot Level (Run (const (bump counter)))
    when (n `mod` 3 == 0) (threadDelay 1)
    ended <- unregister watch
    if ended
      then assertEqual "ended" 0 =<< count counter
      else reaches counter 1

endsOthers :: Assertion
endsOthers = withPipe $ \(a, toA) -> withPipe $ \(b, toB) -> withManager $ \manager ->
  forM_ [OneShot, Persistent] $ \lifetime -> do
    counter <- newCounter
    watches <- newIORef []
    let endAll _ = bump counter >> readIORef watches >>= mapM_ unregister
    put toA "x"
    put toB "x"
    mapM (\fd -> register manager fd readable lifetime Level (Run endAll)) [a, b] >>= writeIORef watches
    replicateM_ 3 (step manager mempty)
    assertEqual "the first ends the second" 1 =<< count counter

changes :: Assertion
changes = withPipe $ \(_, to) -> withManager $ \manager -> do
  seen <- newIORef []
  watch <- register manager to hangUp Persistent Level (Run (\ready -> modifyIORef seen (readyEvents ready :)))
  0 <- step manager mempty
  True <- change watch writable
  1 <- step manager mempty
  True <- change watch mempty
  0 <- step manager mempty
  True <- unregister watch
  False <- change watch writable
  assertEqual "what was told" [writable] =<< readIORef seen

endOfPipe :: Assertion
endOfPipe = do
  (from, to) <- newPipe
  manager <- systemManager
  result <- newEmptyMVar
  _ <- register manager from readable OneShot Level (Fill result)
  closeFd to
  ready <- takeMVar result
  assertEqual "the end" (Ready from (readable <> hangUp)) ready
  assertEqual "how it is shown" "[readable,hangUp]" (show (readyEvents ready))
  closeFd from

closeTells :: Assertion
closeTells = withManager $ \own -> do
  (from, to) <- newPipe
  manager <- systemManager
  result <- newEmptyMVar
  ownResult <- newIORef mempty
  _ <- register manager from readable Persistent Level (Fill result)
  watch <- register own from readable OneShot Level (Run (writeIORef ownResult . readyEvents))
  waiter <- newEmptyMVar
  void . forkIO $ awaitFd from readable >>= putMVar waiter
  soon
  closeFd from
  ready <- takeMVar result
  assertEqual "told by the system's manager" closed (readyEvents ready)
  assertEqual "the thread that waited" closed =<< takeMVar waiter
  1 <- step own mempty
  assertEqual "told by its own" closed =<< readIORef ownResult
  ended <- unregister watch
  assertBool "it has ended" (not ended)
  closeFd to

-- | A watch, a waiting thread and a transaction are told, also if the closing function throws.
closingTells :: Assertion
closingTells = forM_ [True, False] $ \fails -> do
  (from, to) <- newPipe
  manager <- systemManager
  watched <- newEmptyMVar
  waiter <- newEmptyMVar
  transaction <- newEmptyMVar
  outcome <- try $
    flip closeFdWith from $ \fd -> do
      _ <- register manager fd readable Persistent Level (Fill watched)
      _ <- forkIO (try (awaitFd fd readable) >>= putMVar waiter)
      awaitFdSTM fd readable >>= putMVar transaction . fst
      soon
      Posix.closeFd fd
      when fails (ioError (userError "after it was closed"))
  assertEqual "what the closing function threw" (if fails then Left (userError "after it was closed") else Right ()) outcome
  assertEqual "the watch" closed . readyEvents =<< takeMVar watched
  assertEqual "the thread" (Right closed) =<< (takeMVar waiter :: IO (Either IOError Events))
  assertEqual "the transaction" closed =<< atomically =<< takeMVar transaction
  late <- try (awaitFd from readable) :: IO (Either IOError Events)
  assertBool (show late) (either (const True) (const False) late)
  Posix.closeFd to

closingLeaves :: Assertion
closingLeaves = withPipe $ \(fresh, toFresh) -> do
  (from, to) <- newPipe
  manager <- systemManager
  old <- newEmptyMVar
  new <- newEmptyMVar
  flip closeFdWith from $ \fd -> do
    _ <- register manager fd readable OneShot Level (Fill old)
    _ <- dupTo fresh fd -- closes the old file
    void (register manager fd readable OneShot Level (Fill new))
  assertEqual "the old file's" closed . readyEvents =<< takeMVar old
  put toFresh "x"
  assertEqual "the new file's" readable . readyEvents =<< takeMVar new
  Posix.closeFd from
  Posix.closeFd to

notOpen :: Assertion
notOpen = do
  manager <- systemManager
  forM_ [-1, 19998 :: Fd] $ \fd -> do
    result <- try (register manager fd readable OneShot Level (Run (const (pure ()))))
    case result :: Either IOError Watch of
      Left e -> assertBool (show e) (("register: descriptor " ++ show fd ++ ", [readable]") `isInfixOf` show e)
      Right _ -> assertFailure "it was registered"

awaits :: Assertion
awaits = withPipe $ \(from, to) -> do
  (transaction, giveUp) <- awaitFdSTM from readable
  (_, giveUp') <- awaitFdSTM from readable
  giveUp'
  void . forkIO $ soon >> put to "x"
  assertEqual "awaitFd" readable =<< awaitFd from readable
  assertEqual "awaitFdSTM" readable =<< atomically transaction
  giveUp

killed :: Assertion
killed = withPipe $ \(from, _) -> do
  manager <- systemManager
  ended <- newEmptyMVar
  -- The thread runs on this Capability, whose manager the test checks.
  (capability, _) <- threadCapability =<< myThreadId
  start <- statWatches <$> managerStatistics manager
  thread <- forkOn capability (void (awaitFd from readable) `finally` putMVar ended ())
  soon
  killThread thread
  takeMVar ended
  now <- statWatches <$> managerStatistics manager
  assertBool "nothing is left" (now <= start)
