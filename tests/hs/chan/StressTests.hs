-- | One channel with many threads: no item is lost, no item comes twice, and the items of each
-- sender keep their order, also if threads are killed.
module StressTests (tests) where

import Capstan.Chan
import Capstan.Duration (microseconds)
import Control.Concurrent hiding (Chan)
import Control.Exception
import Control.Monad (filterM, forM, forM_, forever, join, replicateM, replicateM_, unless, void, when)
import Data.IORef
import Data.List (sort)
import Data.Maybe (isNothing)
import System.Timeout (timeout)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "stress"
    ( [testCase ("many to many, capacity " ++ show capacity) (manyToMany capacity) | capacity <- [0, 1, 7, maxBound]]
        ++ [testCase ("killed threads, capacity " ++ show capacity) (killed capacity) | capacity <- [0, 1, 7, maxBound]]
        ++ [testCase "killed selects" killedSelects]
        ++ [testCase ("selects that send, capacity " ++ show capacity) (selectsSend capacity) | capacity <- [0, 1]]
        ++ [testCase "selects that send and receive meet each other" swaps]
        ++ [testCase ("time limits stay in their calls, capacity " ++ show capacity) (limited capacity) | capacity <- [0, 1]]
        ++ [testCase "a masked time limit of a receiver stays in its call" limitedMasked]
        ++ [testCase ("items that come as the time is over, capacity " ++ show capacity) (within capacity) | capacity <- [0, 1, maxBound]]
    )

started :: IO a -> IO (ThreadId, MVar (Either SomeException a))
started action = do
  result <- newEmptyMVar
  thread <- forkFinally action (putMVar result)
  pure (thread, result)

ended :: (ThreadId, MVar (Either SomeException a)) -> IO a
ended (_, result) = takeMVar result >>= either throwIO pure

-- | Waits until the thread has ended, as a call that was served before the exception still ends
-- well.
kill :: (ThreadId, MVar (Either SomeException ())) -> IO ()
kill thread = killThread (fst thread) >> (try (ended thread) >>= either (@?= ThreadKilled) pure)

-- | Receives until the channel ends; the latest item comes first.
emptied :: Chan a -> IO [a]
emptied chan = go []
  where
    go items = recvMaybe chan >>= maybe (pure items) (\x -> go (x : items))

manyToMany :: Int -> Assertion
manyToMany capacity = do
  chan <- newBounded capacity
  receivers <- replicateM 8 (started (emptied chan))
  senders <- forM [1 .. 8 :: Int] $ \who -> started (forM_ [1 .. each] $ \i -> send chan (who, i))
  mapM_ ended senders
  close chan
  received <- mapM ended receivers
  sort (concat received) @?= [(who, i) | who <- [1 .. 8], i <- [1 .. each]]
  forM_ received $ \items -> forM_ [1 .. 8] $ \who ->
    let own = [i | (w, i) <- items, w == who] in assertBool "out of order" (own == reverse (sort own))
  where
    each = 2000 :: Int

-- | Threads note each call while they are still masked, and are killed and replaced all the time.
killed :: Int -> Assertion
killed capacity = do
  chan <- newBounded capacity
  sent <- newIORef []
  received <- newIORef []
  numbers <- newIORef 0
  -- A channel without a bound would take millions of items.
  let repeatedly = if capacity == maxBound then replicateM_ 50 else forever
      sending = repeatedly . mask_ $ do
        i <- atomicModifyIORef' numbers (\n -> (n + 1, n))
        send chan (i :: Int)
        note sent i
      receiving = forever . mask_ $ recv chan >>= note received
  forM_ [1 .. 300 :: Int] $ \_ -> do
    threads <- mapM started [sending, receiving, sending, receiving]
    yield
    mapM_ kill threads
  rest <- leftOver chan
  compareNotes sent received rest

note :: IORef [a] -> a -> IO ()
note ref x = atomicModifyIORef' ref (\xs -> (x : xs, ()))

leftOver :: Chan a -> IO [a]
leftOver chan = recvPoll chan >>= maybe (pure []) (\x -> (x :) <$> leftOver chan)

compareNotes :: IORef [Int] -> IORef [Int] -> [Int] -> Assertion
compareNotes sent received rest = do
  out <- sort <$> readIORef sent
  inside <- readIORef received
  unless (sort (rest ++ inside) == out) (assertFailure (show (length out) ++ " sent, " ++ show (length inside + length rest) ++ " received"))
  when (null inside) (assertFailure "nothing was received")

killedSelects :: Assertion
killedSelects = do
  chans <- mapM newBounded [0, 1, 7, maxBound]
  sent <- newIORef []
  received <- newIORef []
  senders <- forM (zip [0 ..] chans) $ \(who, chan) -> started . forM_ [1 .. 3000] $ \i -> do
    send chan (4 * i + who)
    note sent (4 * i + who)
  let selecting cs = forever . mask_ . join $ select [recvCase c (maybe (pure ()) (note received)) | c <- cs]
      start = mapM (started . selecting) [chans, reverse chans, take 2 chans]
  forM_ [1 .. 300 :: Int] $ \_ -> start >>= \threads -> yield >> mapM_ kill threads
  -- The last receivers are not killed before all items are sent.
  threads <- start
  mapM_ ended senders
  mapM_ kill threads
  rest <- concat <$> mapM leftOver chans
  compareNotes sent received rest

-- | Senders that select, and are killed, beside senders that do not select.
selectsSend :: Int -> Assertion
selectsSend capacity = do
  a <- newBounded capacity
  b <- newBounded capacity
  sent <- newIORef []
  received <- newIORef []
  numbers <- newIORef 0
  let next = atomicModifyIORef' numbers (\n -> (n + 1, n))
      noted i done = if done then note sent i else pure ()
      choosing = forever . mask_ $ next >>= \i -> join (select [sendCase a i (noted i), sendCase b i (noted i)])
      sending = forever . mask_ $ next >>= \i -> send a i >> note sent i
      receiving = forever . mask_ . join $ select [recvCase c (maybe (pure ()) (note received)) | c <- [b, a]]
  forM_ [1 .. 300 :: Int] $ \_ -> do
    threads <- mapM started [choosing, receiving, choosing, sending, receiving]
    yield
    mapM_ kill threads
  rest <- (++) <$> leftOver a <*> leftOver b
  compareNotes sent received rest

-- | Each of two threads selects between sending to the other and receiving from it. Each time the
-- two agree.
swaps :: Assertion
swaps = do
  a <- newRendezvous
  b <- newRendezvous
  counts <- mapM ended =<< mapM started [side a b, side b a]
  uncurry (+) (head counts) @?= rounds
  map fst counts @?= reverse (map snd counts)
  where
    rounds = 20000 :: Int
    side to from = go rounds 0 0
      where
        go :: Int -> Int -> Int -> IO (Int, Int)
        go 0 out inside = pure (out, inside)
        go n out inside = select [sendCase to n (const True), recvCase from (const False)] >>= \out' -> if out' then go (n - 1) (out + 1) inside else go (n - 1) out (inside + 1)

-- | A time limit that comes when the call has been served ends the call or comes too late, and has
-- no later effect.
limited :: Int -> Assertion
limited capacity = do
  chan <- newBounded capacity
  threads <- mapM started [limits (`timeout` send chan ()), limits (`timeout` recv chan)]
  mapM_ ended threads
  where
    limits :: (Int -> IO (Maybe a)) -> IO ()
    limits call = forM_ [1 .. 20000 :: Int] (\i -> void (call (i `mod` 20)))

-- | An item comes when the limit of a masked receive ends. The receiver has the item or nothing, no
-- exception comes later, and each item is received once.
limitedMasked :: Assertion
limitedMasked = do
  chan <- newUnbounded
  received <- newIORef (0 :: Int)
  forM_ [1 .. rounds] $ \i -> do
    _ <- forkIO (threadDelay 100 >> send chan i)
    result <- try (mask_ (timeout 100 (recv chan)) >>= \item -> item <$ yield)
    case result of
      Right (Just _) -> modifyIORef' received succ
      Right Nothing -> recv chan >> modifyIORef' received succ
      Left e -> assertFailure ("after the call: " ++ show (e :: SomeException))
  readIORef received >>= (@?= rounds)
  recvPoll chan >>= assertBool "an item came twice" . isNothing
  where
    rounds = 3000 :: Int

-- | Senders and receivers whose limits end as their partners come. Each item that was sent is
-- received once.
within :: Int -> Assertion
within capacity = do
  chan <- newBounded capacity
  finished <- newIORef False
  sender <- started (filterM (\i -> sendWithin (microseconds (i `rem` 150)) chan i) [1 .. 4000 :: Int])
  receiver <- started (receiving chan finished 0 [])
  sent <- ended sender
  writeIORef finished True
  received <- ended receiver
  rest <- drain chan
  reverse received ++ rest @?= sent
  where
    receiving chan finished turn items = do
      over <- readIORef finished
      got <- recvWithin (microseconds (1 + turn `rem` 150)) chan
      case got of
        Item x -> receiving chan finished (turn + 1) (x : items)
        _ | over -> pure items
        _ -> receiving chan finished (turn + 7) items
