-- | The same program by GHC.Event and by "Capstan.Event.Compat": only the import differs.
module CompatTests (tests) where

import qualified Capstan.Event.Compat as Capstan
import Control.Concurrent (forkIO)
import Control.Concurrent.MVar
import Control.Monad (forM_, void, when)
import Data.IORef
import qualified GHC.Event as Ghc
import Support
import qualified System.Posix.IO as Posix
import System.Posix.Types (Fd)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

-- | What the program uses, by name.
data Api event key lifetime timeoutKey = Api
  { registerFd :: (key -> event -> IO ()) -> Fd -> event -> lifetime -> IO key,
    unregisterFd :: key -> IO (),
    unregisterFd_ :: key -> IO Bool,
    closeFd :: (Fd -> IO ()) -> Fd -> IO (),
    keyFd :: key -> Fd,
    evtRead, evtWrite :: event,
    oneShot, multiShot :: lifetime,
    registerTimeout :: Int -> IO () -> IO timeoutKey,
    updateTimeout :: timeoutKey -> Int -> IO (),
    unregisterTimeout :: timeoutKey -> IO ()
  }

ghc :: IO (Api Ghc.Event Ghc.FdKey Ghc.Lifetime Ghc.TimeoutKey)
ghc = do
  Just manager <- Ghc.getSystemEventManager
  timers <- Ghc.getSystemTimerManager
  pure
    Api
      { registerFd = Ghc.registerFd manager,
        unregisterFd = Ghc.unregisterFd manager,
        unregisterFd_ = Ghc.unregisterFd_ manager,
        closeFd = Ghc.closeFd manager,
        keyFd = Ghc.keyFd,
        evtRead = Ghc.evtRead,
        evtWrite = Ghc.evtWrite,
        oneShot = Ghc.OneShot,
        multiShot = Ghc.MultiShot,
        registerTimeout = Ghc.registerTimeout timers,
        updateTimeout = Ghc.updateTimeout timers,
        unregisterTimeout = Ghc.unregisterTimeout timers
      }

capstan :: IO (Api Capstan.Event Capstan.FdKey Capstan.Lifetime Capstan.TimeoutKey)
capstan = do
  Just manager <- Capstan.getSystemEventManager
  timers <- Capstan.getSystemTimerManager
  pure
    Api
      { registerFd = Capstan.registerFd manager,
        unregisterFd = Capstan.unregisterFd manager,
        unregisterFd_ = Capstan.unregisterFd_ manager,
        closeFd = Capstan.closeFd manager,
        keyFd = Capstan.keyFd,
        evtRead = Capstan.evtRead,
        evtWrite = Capstan.evtWrite,
        oneShot = Capstan.OneShot,
        multiShot = Capstan.MultiShot,
        registerTimeout = Capstan.registerTimeout timers,
        updateTimeout = Capstan.updateTimeout timers,
        unregisterTimeout = Capstan.unregisterTimeout timers
      }

tests :: TestTree
tests =
  testGroup
    "compatibility"
    [ testGroup "GHC.Event" (program ghc),
      testGroup "Capstan.Event.Compat" (program capstan),
      testGroup "what GHC.Event lacks" [testCase "new, step, loop, shutdown" ownLoop]
    ]

program :: (Monoid e, Eq e, Show e, Eq k, Show k) => IO (Api e k l t) -> [TestTree]
program api =
  [ testCase "a callback with its key and event" (api >>= multi),
    testCase "one-shot" (api >>= once),
    testCase "reading and writing on one descriptor" (api >>= both),
    testCase "closeFd calls back" (api >>= closing),
    testCase "timeouts" (api >>= timeouts),
    testCase "monoids" (api >>= monoids)
  ]

multi :: (Eq e, Show e, Eq k, Show k) => Api e k l t -> Assertion
multi api = withPipe $ \(from, to) -> do
  seen <- newEmptyMVar
  let callback key event = takeByte (keyFd api key) >> putMVar seen (key, event)
  key <- registerFd api callback from (evtRead api) (multiShot api)
  forM_ [1 .. 10 :: Int] $ \_ -> do
    put to "x"
    assertEqual "key and event" (key, evtRead api) =<< takeMVar seen
  unregisterFd api key
  put to "x"
  soon
  assertBool "no more" =<< isEmptyMVar seen

once :: Api e k l t -> Assertion
once api = withPipe $ \(from, to) -> do
  counter <- newCounter
  put to "stays readable"
  forM_ [1 .. 10] $ \n -> do
    _ <- registerFd api (\_ _ -> bump counter) from (evtRead api) (oneShot api)
    reaches counter n
  settles counter 10

both :: (Eq e, Show e) => Api e k l t -> Assertion
both api = withPipe $ \(from, to) -> do
  reads' <- newEmptyMVar
  writes <- newEmptyMVar
  reader <- registerFd api (\_ event -> putMVar reads' event) from (evtRead api) (oneShot api)
  _ <- registerFd api (\_ event -> putMVar writes event) to (evtWrite api) (oneShot api)
  assertEqual "writable" (evtWrite api) =<< takeMVar writes
  assertBool "not readable" =<< isEmptyMVar reads'
  changed <- unregisterFd_ api reader
  assertBool "it was registered" changed
  _ <- registerFd api (\_ event -> putMVar reads' event) from (evtRead api) (oneShot api)
  put to "x"
  assertEqual "readable" (evtRead api) =<< takeMVar reads'

closing :: (Eq e) => Api e k l t -> Assertion
closing api = do
  (from, to) <- Posix.createPipe
  seen <- newEmptyMVar
  closed <- newIORef []
  _ <- registerFd api (\_ event -> putMVar seen event) from (evtRead api) (multiShot api)
  closeFd api (\fd -> modifyIORef closed (fd :) >> Posix.closeFd fd) from
  event <- takeMVar seen
  assertBool "neither readable nor writable" (event /= evtRead api && event /= evtWrite api)
  assertEqual "closed once" [from] =<< readIORef closed
  Posix.closeFd to

timeouts :: Api e k l t -> Assertion
timeouts api = do
  fired <- newCounter
  never <- newCounter
  _ <- registerTimeout api 1000 (bump fired)
  late <- registerTimeout api 3600000000 (bump fired)
  gone <- registerTimeout api 5000 (bump never)
  unregisterTimeout api gone
  updateTimeout api late 2000
  settles fired 2
  assertEqual "unregistered" 0 =<< count never

monoids :: (Monoid e, Eq e, Show e) => Api e k l t -> Assertion
monoids api = do
  assertEqual "shown" "[evtRead,evtWrite]" (show (evtRead api <> evtWrite api))
  assertEqual "union" (evtWrite api <> evtRead api) (mconcat [evtRead api, evtWrite api])

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
