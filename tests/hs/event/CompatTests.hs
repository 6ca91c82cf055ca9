-- | The same program by GHC.Event and by "Capstan.Event.Compat", and the parts that only
-- "Capstan.Event.Compat" has.
module CompatTests (tests) where

import qualified Capstan.Event.Compat as Capstan
import qualified CompatByCapstan
import qualified CompatByGhc
import Control.Concurrent (forkIO, forkOn)
import Control.Concurrent.MVar
import Control.Exception (IOException, try)
import Control.Monad (forM, forM_, replicateM, void, when)
import Data.List (sort)
import GHC.IO.Exception (ioe_errno)
import GHC.IO.Handle (hDuplicate)
import Support
import System.Environment (getExecutablePath)
import System.IO (IOMode (ReadMode), withFile)
import System.Posix.IO (closeFd, dup, handleToFd)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "compatibility"
    [ testGroup "GHC.Event" CompatByGhc.tests,
      testGroup "Capstan.Event.Compat" CompatByCapstan.tests,
      testGroup "what GHC.Event lacks" [testCase "new, step, loop, shutdown" ownLoop],
      testCase "closeFd tells who comes meanwhile" closingTells,
      testCase "what is always ready calls back, and what is not open throws" alwaysReady,
      testCase "timeouts of two Capabilities are two keys" twoKeys
    ]

closingTells :: Assertion
closingTells = withPipe $ \(from, _) -> do
  manager <- Capstan.getSystemEventManager >>= maybe (fail "needs -threaded") pure
  told <- newEmptyMVar
  let meanwhile fd = void (Capstan.registerFd manager (\_ event -> putMVar told event) fd Capstan.evtRead Capstan.OneShot)
  copy <- dup from
  Capstan.closeFd manager (\fd -> meanwhile fd >> closeFd fd) copy
  assertEqual "what it asked for, and that it is closed" "[evtRead,evtClose]" . show =<< takeMVar told

alwaysReady :: Assertion
alwaysReady = do
  manager <- Capstan.getSystemEventManager >>= maybe (fail "needs -threaded") pure
  told <- newEmptyMVar
  let watch fd = Capstan.registerFd manager (\_ event -> putMVar told event) fd Capstan.evtRead Capstan.OneShot
  file <- getExecutablePath
  forM_ [file, "/dev/null"] $ \path -> withFile path ReadMode $ \handle -> do
    copy <- hDuplicate handle >>= handleToFd
    _ <- watch copy
    assertEqual path (show Capstan.evtRead) . show =<< takeMVar told
    closeFd copy
  refused <- try (watch 9999)
  case refused of
    Left e -> assertBool (show (e :: IOException)) (ioe_errno e == Just 9)
    Right _ -> assertFailure "it was watched"

twoKeys :: Assertion
twoKeys = do
  keys <- fmap (sort . concat) . forM [0, 1] $ \capability -> do
    key <- newEmptyMVar
    _ <- forkOn capability $ do
      manager <- Capstan.getSystemTimerManager
      made <- replicateM 100 (Capstan.registerTimeout manager 1000000000 (pure ()))
      mapM_ (Capstan.unregisterTimeout manager) made
      putMVar key made
    takeMVar key
  assertBool "they differ" (and (zipWith (<) keys (drop 1 keys)))

ownLoop :: Assertion
ownLoop = withPipe $ \(from, to) -> do
  manager <- Capstan.new
  counter <- newCounter
  let callback _ event = when (event == Capstan.evtRead) (takeByte from >> bump counter)
  _ <- Capstan.registerFd manager callback from Capstan.evtRead Capstan.MultiShot
  put to "x"
  True <- Capstan.step manager
  assertEqual "by a step" 1 =<< count counter
  finished <- newEmptyMVar
  void (forkIO (Capstan.loop manager >> putMVar finished ()))
  put to "x"
  reaches counter 2
  Capstan.shutdown manager
  takeMVar finished
