{-# LANGUAGE RankNTypes #-}
{-# LANGUAGE TupleSections #-}

-- | Each promise of "Capstan.Chan".
module ChanTests (tests) where

import Capstan.Chan
import qualified Capstan.Chan.Protocol as Protocol
import Capstan.Duration (milliseconds, seconds, unlimited)
import Capstan.Exception (InvalidArgument)
import Control.Concurrent hiding (Chan)
import Control.Exception
import Control.Monad (forM_, replicateM, replicateM_, unless, void)
import Data.IORef (mkWeakIORef, modifyIORef, newIORef, readIORef)
import Data.List (isInfixOf)
import Data.Maybe (catMaybes, fromMaybe)
import GHC.Conc (ThreadStatus (..), threadStatus)
import System.Mem (getAllocationCounter, performGC, performMinorGC)
import System.Mem.Weak (Weak, deRefWeak)
import System.Timeout (timeout)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "promises"
    [ testCase "an empty channel is not a closed one" emptyOrClosed,
      testCase "all that there is" drained,
      testCase "each item until the end" each,
      testCase "first in, first out" firstInFirstOut,
      testCase "a bounded channel has its capacity" hasCapacity,
      testCase "a negative capacity is refused" negative,
      testCase "who waits is served in order" inOrder,
      testCase "a rendezvous waits for its receiver" rendezvous,
      testCase "polls of a rendezvous need a partner" rendezvousPolls,
      testCase "a closed channel can be emptied, not filled" closing,
      testCase "closing ends those who wait" closingEnds,
      testCase "select takes the first that is ready" selecting,
      testCase "select leaves the other lines" selectLeaves,
      testCase "select sends where there is room" selectSends,
      testCase "a select that waits to send is told of room, receivers and the end" selectIsTold,
      testCase "a select that cannot meet itself is refused" meetsItself,
      testCase "a limit of time ends a wait, and nothing was done" limited,
      testCase "a wait with a limit is served" limitedServed,
      testCase "an interrupted call has done nothing" interrupted,
      testCase "a thread that nobody can serve is told" unreachable,
      testCase "a thousand threads wait" thousand,
      testCase "a channel may be old when it is first used" old,
      testCase "what was taken is garbage, also beside a sender" (replicateM_ 300 garbage)
    ]

-- | A thread that waits in the action, and the variable for its result.
blocked :: IO a -> IO (ThreadId, MVar (Either SomeException a))
blocked action = do
  result <- newEmptyMVar
  thread <- forkFinally action (putMVar result)
  thread <$ untilBlocked thread >>= \t -> pure (t, result)

untilBlocked :: ThreadId -> IO ()
untilBlocked thread = do
  status <- threadStatus thread
  case status of
    ThreadBlocked _ -> pure ()
    _ -> yield >> untilBlocked thread

ended :: MVar (Either SomeException a) -> IO a
ended result = takeMVar result >>= either throwIO pure

firstInFirstOut :: Assertion
firstInFirstOut = do
  chan <- newUnbounded
  forM_ [1 .. 100] (send chan)
  some <- replicateM 50 (recv chan)
  forM_ [101 .. 200] (send chan)
  rest <- replicateM 150 (recv chan)
  some ++ rest @?= [1 .. 200 :: Int]
  recvPoll chan >>= (@?= Nothing)

hasCapacity :: Assertion
hasCapacity = do
  chan <- newBounded 2
  sent <- mapM (sendPoll chan) "abc"
  sent @?= [True, True, False]
  (_, third) <- blocked (send chan 'c')
  sendPoll chan 'd' >>= (@?= False)
  recv chan >>= (@?= 'a')
  ended third
  sendPoll chan 'd' >>= (@?= False)
  replicateM 2 (recv chan) >>= (@?= "bc")

emptyOrClosed :: Assertion
emptyOrClosed = do
  chan <- newBounded 2
  recvNow chan >>= (@?= Empty)
  send chan 'a'
  send chan 'b'
  recvNow chan >>= (@?= Item 'a')
  close chan
  recvNow chan >>= (@?= Item 'b')
  recvNow chan >>= (@?= End)

drained :: Assertion
drained = do
  chan <- newUnbounded
  drain chan >>= (@?= "")
  mapM_ (send chan) "abc"
  drain chan >>= (@?= "abc")
  close chan
  drain chan >>= (@?= "")

each :: Assertion
each = do
  chan <- newBounded 3
  seen <- newIORef []
  _ <- forkIO (mapM_ (send chan) [1 .. 100 :: Int] >> close chan)
  forEach chan (\x -> modifyIORef seen (x :))
  readIORef seen >>= (@?= [100, 99 .. 1])

negative :: Assertion
negative = do
  made <- try (newBounded (-1)) :: IO (Either InvalidArgument (Chan ()))
  either (\e -> assertBool (show e) ("newBounded: a capacity of -1" `isInfixOf` show e)) (const (assertFailure "made")) made

inOrder :: Assertion
inOrder = do
  chan <- newBounded 1
  send chan 0
  senders <- mapM (blocked . send chan) [1 .. 10]
  replicateM 11 (recv chan) >>= (@?= [0 .. 10 :: Int])
  mapM_ (ended . snd) senders
  receivers <- replicateM 10 (blocked (recv chan))
  mapM_ (send chan) [1 .. 10]
  mapM (ended . snd) receivers >>= (@?= [1 .. 10])

rendezvous :: Assertion
rendezvous = do
  chan <- newRendezvous
  (_, sent) <- blocked (send chan 'a')
  isEmptyMVar sent >>= (@?= True)
  recv chan >>= (@?= 'a')
  ended sent
  (_, received) <- blocked (recv chan)
  send chan 'b'
  ended received >>= (@?= 'b')

rendezvousPolls :: Assertion
rendezvousPolls = do
  chan <- newRendezvous
  sendPoll chan 'a' >>= (@?= False)
  recvPoll chan >>= (@?= Nothing)
  (_, received) <- blocked (recv chan)
  sendPoll chan 'b' >>= (@?= True)
  ended received >>= (@?= 'b')
  (_, sent) <- blocked (send chan 'c')
  recvPoll chan >>= (@?= Just 'c')
  ended sent

refused :: IO a -> Assertion
refused action = try action >>= either (@?= ChanClosed) (const (assertFailure "it is closed"))

closing :: Assertion
closing = do
  chan <- newBounded 3
  mapM_ (send chan) "ab"
  isClosed chan >>= (@?= False)
  close chan >> close chan
  isClosed chan >>= (@?= True)
  refused (send chan 'c')
  refused (sendPoll chan 'c')
  recvMaybe chan >>= (@?= Just 'a')
  recv chan >>= (@?= 'b')
  recvMaybe chan >>= (@?= Nothing)
  recvPoll chan >>= (@?= Nothing)
  refused (recv chan)

closingEnds :: Assertion
closingEnds = do
  chan <- newBounded 1
  receivers <- replicateM 3 (blocked (recvMaybe chan))
  close chan
  mapM (ended . snd) receivers >>= (@?= replicate 3 (Nothing :: Maybe Char))
  other <- newBounded 1
  send other 'a'
  senders <- mapM (blocked . send other) "bcd"
  close other
  mapM_ (refused . ended . snd) senders
  recvMaybe other >>= (@?= Just 'a')
  recvMaybe other >>= (@?= Nothing)

selecting :: Assertion
selecting = do
  a <- newBounded 1
  b <- newRendezvous
  let cases = [recvCase a (maybe "a ended" (: " of a")), recvCase b (maybe "b ended" (: " of b"))]
  selectPoll cases >>= (@?= Nothing)
  send a 'x'
  (_, sent) <- blocked (send b 'y')
  select cases >>= (@?= "x of a")
  select cases >>= (@?= "y of b")
  ended sent
  (_, received) <- blocked (select cases)
  send b 'z'
  ended received >>= (@?= "z of b")
  close b
  select cases >>= (@?= "b ended")
  selectPoll (map (fmap length) cases) >>= (@?= Just 7)

selectSends :: Assertion
selectSends = do
  a <- newBounded 1
  b <- newRendezvous
  let either' x = [sendCase a x ("a",), sendCase b x ("b",)]
  selectPoll (either' 'x') >>= (@?= Just ("a", True))
  selectPoll (either' 'y') >>= (@?= Nothing)
  (_, received) <- blocked (recv b)
  select (either' 'y') >>= (@?= ("b", True))
  ended received >>= (@?= 'y')
  recv a >>= (@?= 'x')
  close a
  select (either' 'z') >>= (@?= ("a", False))

selectIsTold :: Assertion
selectIsTold = do
  a <- newBounded 1
  b <- newRendezvous
  send a 'a'
  let start = blocked (select [sendCase a 'x' ("a",), sendCase b 'y' ("b",)])
  (_, room) <- start
  recv a >>= (@?= 'a')
  ended room >>= (@?= ("a", True))
  (_, receiver) <- start
  recv b >>= (@?= 'y')
  ended receiver >>= (@?= ("b", True))
  (_, selected) <- start
  select [recvCase b id] >>= (@?= Just 'y')
  ended selected >>= (@?= ("b", True))
  (thread, killed) <- start
  killThread thread
  r <- try (ended killed)
  r @?= Left ThreadKilled
  (_, over) <- start
  close b
  ended over >>= (@?= ("b", False))
  drain a >>= (@?= "x")

meetsItself :: Assertion
meetsItself = do
  a <- newRendezvous
  b <- newBounded 1
  let both chan = select [sendCase chan 'x' (const Nothing), recvCase chan id]
  r <- try (both a)
  either (\e -> assertBool (show (e :: InvalidArgument)) ("Capstan.Chan.select" `isInfixOf` show e)) (assertFailure . show) r
  both b >>= (@?= Nothing)
  both b >>= (@?= Just 'x')

-- | A queue of waiting threads that kept threads after they went on would grow here.
selectLeaves :: Assertion
selectLeaves = do
  quiet <- Protocol.newChan 0
  busy <- Protocol.newChan 1
  let cases = [Protocol.Case quiet (const 0), Protocol.Case busy (fromMaybe 0)]
  forM_ [1 .. 100 :: Int] $ \i -> do
    (_, received) <- blocked (Protocol.select cases)
    Protocol.waiting quiet >>= (@?= 1)
    Protocol.send busy i
    ended received >>= (@?= i)
    Protocol.waiting quiet >>= (@?= 0)
  (thread, received) <- blocked (Protocol.select cases)
  killThread thread
  killedBy ThreadKilled received
  Protocol.waiting quiet >>= (@?= 0)
  Protocol.sendPoll quiet () >>= (@?= False)

interrupted :: Assertion
interrupted = do
  chan <- newBounded 1
  timeout 1000 (recv chan) >>= (@?= Nothing)
  send chan 'a'
  timeout 1000 (send chan 'b') >>= (@?= Nothing)
  (thread, sent) <- blocked (send chan 'c')
  killThread thread
  killedBy ThreadKilled sent
  recvPoll chan >>= (@?= Just 'a')
  recvPoll chan >>= (@?= Nothing)
  (other, received) <- blocked (recv chan)
  killThread other
  killedBy ThreadKilled received
  sendPoll chan 'd' >>= (@?= True)
  recvPoll chan >>= (@?= Just 'd')

killedBy :: AsyncException -> MVar (Either SomeException a) -> Assertion
killedBy e result = try (ended result) >>= either (@?= e) (const (assertFailure "it was killed"))

unreachable :: Assertion
unreachable = do
  result <- newEmptyMVar
  void . forkIO $ do
    chan <- newRendezvous :: IO (Chan ())
    try (recv chan) >>= putMVar result
  performGC
  told <- takeMVar result
  either (\BlockedIndefinitelyOnMVar -> pure ()) (const (assertFailure "received")) told

-- | A thousand receivers wait, far more than Capabilities, and all other threads run.
thousand :: Assertion
thousand = do
  chan <- newRendezvous
  receivers <- replicateM 1000 (blocked (allocating (recv chan)))
  replicateM_ 1000 (send chan 'a')
  (received, bytes) <- unzip <$> mapM (ended . snd) receivers
  unless (received == replicate 1000 'a') (assertFailure "wrong items")
  -- The queue takes about 100 kB: a receiver that was served does not search it for itself.
  assertBool ("a receiver allocates " ++ show (maximum bytes) ++ " bytes") (maximum bytes < 50000)
  where
    allocating action = do
      before <- getAllocationCounter
      x <- action
      after <- getAllocationCounter
      pure (x, before - after)

-- | An item that is evaluated after it was put into the channel would differ from the value that a
-- swap expects.
old :: Assertion
old = forM_ [1, 5, maxBound] $ \capacity -> do
  chan <- newChannel capacity
  replicateM_ 3 performMinorGC
  send chan 'x'
  recv chan >>= (@?= 'x')

-- | The compiler does not know the capacity.
newChannel :: Int -> IO (Chan a)
newChannel = newBounded
{-# NOINLINE newChannel #-}

garbage :: Assertion
garbage = do
  chan <- newUnbounded
  taken <- replicateM 300 (filled chan)
  begun <- newEmptyMVar
  end <- newEmptyMVar
  _ <- forkIO (putMVar begun () >> replicateM_ 5000 (newIORef ' ' >>= send chan) >> putMVar end ())
  takeMVar begun
  replicateM_ 300 (recv chan)
  -- A sender that was put aside keeps the state that it has read.
  takeMVar end
  alive <- remaining 100 taken
  alive @?= 0
  -- The channel is used until here.
  _ <- recvPoll chan
  pure ()
  where
    -- GHC may answer this request with a small collection that another test has just begun.
    remaining :: Int -> [Weak a] -> IO Int
    remaining times weaks = do
      performGC
      alive <- length . catMaybes <$> mapM deRefWeak weaks
      if alive > 0 && times > 1 then yield >> remaining (times - 1) weaks else pure alive
    filled chan = do
      item <- newIORef 'x'
      send chan item
      mkWeakIORef item (pure ())
    {-# NOINLINE filled #-}

-- | In each masking state.
limited :: Assertion
limited = limitedIn id >> limitedIn mask_ >> limitedIn uninterruptibleMask_

limitedIn :: (forall a. IO a -> IO a) -> Assertion
limitedIn masking = do
  forM_ [0, 1, maxBound] $ \capacity -> do
    chan <- newBounded capacity
    forM_ [mempty, milliseconds 2] $ \limit -> do
      masking (recvWithin limit chan) >>= (@?= (Empty :: Received Char))
      masking (selectWithin limit [recvCase chan id, recvCase chan id]) >>= (@?= Nothing)
    -- The call has left the line.
    unless (capacity == 0) (send chan 'a' >> recv chan >>= (@?= 'a'))
    sendPoll chan 'b' >>= (@?= (capacity > 0))
  full <- newBounded 1
  send full 'a'
  forM_ [mempty, milliseconds 2] $ \limit -> masking (sendWithin limit full 'b') >>= (@?= False)
  drain full >>= (@?= "a")
  masking (selectWithin (milliseconds 2) []) >>= (@?= (Nothing :: Maybe ()))
  meeting <- newRendezvous
  met <- try (selectWithin mempty [sendCase meeting () (const ()), recvCase meeting (const ())])
  either (\e -> show (e :: InvalidArgument) `seq` pure ()) (const (assertFailure "not refused")) met

limitedServed :: Assertion
limitedServed = forM_ [seconds 100, unlimited] $ \limit -> do
  chan <- newBounded 1
  (_, received) <- blocked (recvWithin limit chan)
  send chan 'a'
  takeMVar received >>= either throwIO (@?= Item 'a')
  sendWithin limit chan 'b' >>= (@?= True)
  (_, sent) <- blocked (sendWithin limit chan 'c')
  recv chan >>= (@?= 'b')
  takeMVar sent >>= either throwIO (@?= True)
  recv chan >>= (@?= 'c')
  (_, end) <- blocked (recvWithin limit chan)
  (_, chosen) <- blocked (selectWithin limit [recvCase chan id])
  close chan
  takeMVar end >>= either throwIO (@?= End)
  takeMVar chosen >>= either throwIO (@?= Just Nothing)
  recvWithin limit chan >>= (@?= End)
  try (sendWithin limit chan 'd') >>= (@?= Left ChanClosed)
