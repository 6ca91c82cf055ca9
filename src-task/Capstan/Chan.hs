{-# LANGUAGE DeriveTraversable #-}
-- This module compiles the operations for 'IO', see "Capstan.Chan.Protocol".
{-# OPTIONS_GHC -fno-worker-wrapper #-}

-- |
-- Module      : Capstan.Chan
-- Description : Bounded, unbounded and rendezvous channels
-- Stability   : experimental
--
-- A channel carries items from any number of senders to any number of receivers, first in, first
-- out. A thread that has to wait lets other threads of its Capability run, and polls the channel
-- for about 20 microseconds. Then it is parked: it uses no processor time and holds no Capability.
-- So a green thread, a task or a callback may wait.
--
-- > results <- newBounded 100
-- > done <- newUnbounded
-- > _ <- forkIO (mapM_ (send results) [1 .. 1000 :: Int] >> close results)
-- > let consume total = recvMaybe results >>= maybe (pure total) (\x -> consume $! total + x)
-- > consume 0 >>= send done
--
-- @network@ and "Control.Concurrent.Chan" export some of the same names. Beside them, import this
-- module as @import qualified Capstan.Chan as Chan@.
--
-- == Promises
--
-- 1. Items arrive in the order in which their 'send's took effect. Each item arrives at one
--    receiver.
-- 2. A channel never holds more items than its capacity. Waiting threads form a line and are served
--    in the order in which they joined it. Before a receiver joins the line, it polls for 2
--    microseconds, or until all other threads of its Capability have run once. The receiver of a
--    rendezvous joins the line at once.
-- 3. An operation that ends with an asynchronous exception has done nothing: no item was sent or
--    received. Without 'Control.Exception.mask' around it, an exception may arrive right after the
--    operation, before its result is used, as with 'Control.Concurrent.MVar.takeMVar'. With
--    'Control.Exception.mask' around both a 'System.Timeout.timeout' and an operation that
--    receives, the exception of the time limit ends the operation, or does not come at all.
--    A 'send' may have been accepted just before the exception. Then it succeeds, and the
--    exception arrives at the next point where the thread can be interrupted. With
--    'Control.Exception.mask' around both, that point may be after the 'System.Timeout.timeout'.
--    The limits of 'sendWithin', 'recvWithin' and 'selectWithin' are no exceptions.
-- 4. A thread that waits for a channel that no other thread can reach gets
--    'Control.Exception.BlockedIndefinitelyOnMVar'. The body of a scope ("Capstan.Task") gets it
--    when no task of the scope is under way, because a task can still throw to it.
--
-- == Transactions
--
-- An STM transaction cannot receive. An item leaves a channel in one step, and a transaction that
-- is restarted could not undo it. Use a thread that moves items into a @TQueue@: @'forEach' chan
-- (atomically . writeTQueue queue)@. Each item then costs as much as both queues together.
--
-- == Cost
--
-- An operation that does not wait is one compare-and-swap and about ten words of memory. No
-- operation takes a lock. Receiving takes amortised constant time: now and then a receiver reverses
-- the list of sent items. If an unbounded channel holds many items, its senders and receivers
-- rarely touch the same cache line. Those of a bounded channel share a cache line at each item.
--
-- @since 0.1.0
module Capstan.Chan
  ( -- * Channels
    Chan,
    newBounded,
    newUnbounded,
    newRendezvous,

    -- * Sending and receiving
    send,
    recv,
    recvMaybe,
    sendPoll,
    recvPoll,
    Received (..),
    recvNow,
    sendWithin,
    recvWithin,
    drain,
    forEach,

    -- * Closing
    close,
    isClosed,
    ChanClosed (..),

    -- * The first of several
    Case,
    recvCase,
    sendCase,
    select,
    selectPoll,
    selectWithin,
  )
where

import Capstan.Chan.Protocol (ChanClosed (..))
import qualified Capstan.Chan.Protocol as Protocol
import Capstan.Duration (Duration, nanoseconds, since, toMicroseconds, unlimited)
import Capstan.Exception (throwInvalid)
import Capstan.Task.Thread.Seeded (switchPoint)
import Capstan.Task.Thread.Target (forkMasked)
import Control.Concurrent (killThread, threadDelay)
import Control.Exception (throwIO, uninterruptibleMask_)
import GHC.Clock (getMonotonicTimeNSec)
import GHC.Stack (HasCallStack)

-- | A channel for items of type @a@.
newtype Chan a = Chan (Protocol.Chan IO a)

-- | Whether both are the same channel.
instance Eq (Chan a) where
  Chan a == Chan b = Protocol.sameChan a b

-- | A channel that holds at most the given number of items; 'send' waits while it is full. With 0
-- it is a rendezvous. Throws an 'Capstan.Exception.InvalidArgument' if the number is negative.
newBounded :: HasCallStack => Int -> IO (Chan a)
newBounded capacity
  | capacity < 0 = throwInvalid ("Capstan.Chan.newBounded: a capacity of " ++ show capacity ++ "; it must be 0 or more")
  | otherwise = Chan <$> Protocol.newChan capacity

-- | A channel whose 'send' never waits.
newUnbounded :: IO (Chan a)
newUnbounded = newBounded maxBound

-- | A channel that holds nothing: 'send' waits for the receiver that takes the item.
newRendezvous :: IO (Chan a)
newRendezvous = newBounded 0

-- | Sends an item, after waiting for room. Throws 'ChanClosed' if the channel is closed before
-- there is room; then the item was not sent. Can be interrupted while it waits.
send :: Chan a -> a -> IO ()
send (Chan chan) x = switchPoint >> Protocol.send chan x

-- | Sends an item if there is room now, or, in a rendezvous, if a receiver waits now. Returns
-- whether the item was sent. Throws 'ChanClosed' if the channel is closed. Never waits.
sendPoll :: Chan a -> a -> IO Bool
sendPoll (Chan chan) x = switchPoint >> Protocol.sendPoll chan x

-- | Receives the next item, after waiting for one. Throws 'ChanClosed' when the channel is closed and
-- empty. Can be interrupted while it waits.
recv :: Chan a -> IO a
recv chan = recvMaybe chan >>= maybe (throwIO ChanClosed) pure

-- | As 'recv', but returns 'Nothing' when the channel is closed and empty.
recvMaybe :: Chan a -> IO (Maybe a)
recvMaybe (Chan chan) = switchPoint >> Protocol.recvMaybe chan

-- | Receives the next item if the channel has an item now, or, in a rendezvous, if a sender waits
-- now. Returns 'Nothing' otherwise, also when the channel is closed. Never waits.
recvPoll :: Chan a -> IO (Maybe a)
recvPoll (Chan chan) = switchPoint >> Protocol.recvPoll chan

-- | The answer of 'recvNow'.
data Received a
  = Item a
  | -- | No item now, but an item may come later.
    Empty
  | -- | No item will ever come: the channel is closed, and empty.
    End
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | As 'recvPoll', but the answer distinguishes an empty channel from a channel that is closed and
-- empty. Never waits.
--
-- > recvNow jobs >>= \now -> case now of
-- >   Item job -> work job
-- >   Empty -> tidyUp
-- >   End -> finish
recvNow :: Chan a -> IO (Received a)
recvNow (Chan chan) = switchPoint >> fmap received (Protocol.poll chan)
  where
    received (Protocol.Got x) = Item x
    received Protocol.None = Empty
    received Protocol.AtEnd = End

-- | As 'recvNow', but first waits for an item, for a limit of time. The answer is 'Empty' if none
-- came, and then no item was received. The limit is no exception, so it needs no
-- 'System.Timeout.timeout', and it holds in any masking state. 'Capstan.Duration.unlimited' is no
-- limit. A call that has to wait also starts a thread, for 1 microsecond. Can be interrupted while
-- it waits. The units are those of "Capstan.Duration".
--
-- > recvWithin (milliseconds 100) jobs >>= \now -> case now of
-- >   Item job -> work job
-- >   Empty -> tidyUp
-- >   End -> finish
recvWithin :: Duration -> Chan a -> IO (Received a)
recvWithin limit chan = maybe Empty (maybe End Item) <$> selectWithin limit [recvCase chan id]

-- | As 'send', with a limit of time as that of 'recvWithin'. Returns whether the item was sent. A
-- call that waits has no place in the line of senders, as with 'sendCase'. Throws 'ChanClosed' if
-- the channel is closed before there is room.
--
-- > sendWithin (seconds 1) requests request >>= \sent -> unless sent (reject request)
sendWithin :: Duration -> Chan a -> a -> IO Bool
sendWithin limit chan x = selectWithin limit [sendCase chan x id] >>= maybe (pure False) (\sent -> if sent then pure True else throwIO ChanClosed)

-- | Receives all items that the channel has now, in their order. Never waits, but continues while
-- other threads send.
--
-- > late <- drain chan
drain :: Chan a -> IO [a]
drain chan = go []
  where
    go items = recvPoll chan >>= maybe (pure (reverse items)) (\x -> go (x : items))

-- | Receives items, and runs the action with each, until the channel is closed and empty. Waits for
-- items, as 'recv'. Several threads may do so at a time: each item goes to one of them. An
-- exception of the action ends the loop, and its item is lost.
--
-- > forEach texts (hPutStrLn file)
forEach :: Chan a -> (a -> IO ()) -> IO ()
forEach chan action = recvMaybe chan >>= maybe (pure ()) (\x -> action x >> forEach chan action)

-- | Closes the channel: from now on nothing can be sent. Items that were sent can still be
-- received. Threads that wait to send get 'ChanClosed', and threads that wait to receive learn that
-- the channel has ended. Closing again does nothing.
close :: Chan a -> IO ()
close (Chan chan) = switchPoint >> Protocol.close chan

-- | Whether 'close' was called. The answer 'False' may be out of date when it is used.
isClosed :: Chan a -> IO Bool
isClosed (Chan chan) = Protocol.isClosed chan

-- | One of the operations for which 'select' waits.
newtype Case r = Case (Protocol.Case IO r)

instance Functor Case where
  fmap f (Case c) = Case (fmap f c)

-- | Receives from the channel, and gives the item to the function. The function gets 'Nothing' at
-- the end, when the channel is closed and empty.
recvCase :: Chan a -> (Maybe a -> r) -> Case r
recvCase (Chan chan) f = Case (Protocol.Case chan f)

-- | Sends the item to the channel, and gives 'True' to the function. The function gets 'False' if
-- the channel is closed; then the item was not sent.
--
-- A 'select' that waits to send has no place in the line of senders. It is notified when there is
-- room or a receiver, and then tries again; so a 'send' that came later may go first. Calls that
-- never wait, such as 'recvPoll', find no item in a rendezvous if all its senders wait in a
-- 'select'.
sendCase :: Chan a -> a -> (Bool -> r) -> Case r
sendCase (Chan chan) x f = Case (Protocol.SendCase chan x f)

-- | Waits until one of the cases is ready, and performs that case alone. A case is ready if its
-- channel has an item, has room, or has ended. If several cases are ready, the first of the list is
-- performed. With no cases it waits for ever. Costs about as much as one 'recv' for each channel.
-- Can be interrupted while it waits.
--
-- Throws an 'Capstan.Exception.InvalidArgument' if the list both sends to and receives from a
-- rendezvous, for a call cannot meet itself.
--
-- > data Event = Key Char | Tick | Quit
-- >
-- > nextEvent :: Chan Char -> Chan () -> IO Event
-- > nextEvent keys ticks = select [recvCase keys (maybe Quit Key), recvCase ticks (const Tick)]
--
-- > -- The next job goes to the first of two workers that is free; what comes back meanwhile goes first.
-- > serve :: Chan Int -> Chan Int -> Chan Int -> Int -> IO (Maybe Int)
-- > serve results left right job = select [recvCase results id, sendCase left job (const Nothing), sendCase right job (const Nothing)]
select :: HasCallStack => [Case r] -> IO r
select cases = distinct "select" cases >>= \inner -> switchPoint >> Protocol.select inner

-- | The cases, if none of them could only meet another one.
distinct :: HasCallStack => String -> [Case r] -> IO [Protocol.Case IO r]
distinct function cases
  | Protocol.meetsItself inner = throwInvalid ("Capstan.Chan." ++ function ++ ": a rendezvous to send to and to receive from; it may be in the list for one of both")
  | otherwise = pure inner
  where
    inner = [c | Case c <- cases]

-- | As 'select', but does not wait: returns 'Nothing' if no case is ready.
selectPoll :: [Case r] -> IO (Maybe r)
selectPoll cases = switchPoint >> Protocol.selectPoll [c | Case c <- cases]

-- | As 'select', with a limit of time as that of 'recvWithin'. Returns 'Nothing' if no case became
-- ready in time; then none was performed. With no cases it waits until the time is over.
--
-- > eventWithinAMinute :: Chan Char -> Chan () -> IO (Maybe Event)
-- > eventWithinAMinute keys ticks = selectWithin (seconds 60) [recvCase keys (maybe Quit Key), recvCase ticks (const Tick)]
selectWithin :: HasCallStack => Duration -> [Case r] -> IO (Maybe r)
selectWithin limit cases
  | limit == unlimited = Just <$> select cases
  | limit == mempty = distinct "selectWithin" cases >> selectPoll cases
  | otherwise = do
    inner <- distinct "selectWithin" cases
    switchPoint
    begin <- now
    Protocol.selectUntil (alarm begin) inner
  where
    now = nanoseconds . fromIntegral <$> getMonotonicTimeNSec
    -- A call that begins its wait anew starts the alarm again, with the time that is left.
    alarm begin ring = do
      passed <- (`since` begin) <$> now
      timer <- forkMasked (threadDelay (toMicroseconds (limit `since` passed)) >> ring)
      pure (uninterruptibleMask_ (killThread timer))
