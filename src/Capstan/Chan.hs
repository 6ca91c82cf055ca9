{-# LANGUAGE DeriveTraversable #-}
-- The operations are compiled for 'IO' here, see "Capstan.Chan.Protocol".
{-# OPTIONS_GHC -fno-worker-wrapper #-}

-- |
-- Module      : Capstan.Chan
-- Description : Bounded, unbounded and rendezvous channels
-- Stability   : experimental
--
-- A channel carries items from any number of senders to any number of receivers, first in, first
-- out. A thread that has to wait lets others of its Capability run, looks for 20 microseconds or little more whether
-- there is something for it, and is parked then: it costs no processor time and holds no Capability, so it
-- may be a green thread, a task or a callback.
--
-- > results <- newBounded 100
-- > done <- newUnbounded
-- > _ <- forkIO (mapM_ (send results) [1 .. 1000 :: Int] >> close results)
-- > let consume total = recvMaybe results >>= maybe (pure total) (\x -> consume $! total + x)
-- > consume 0 >>= send done
--
-- Beside @network@ or "Control.Concurrent.Chan", whose names are the same, import it as
-- @import qualified Capstan.Chan as Chan@.
--
-- == Promises
--
-- 1. Items arrive in the order in which their 'send's took effect, each at one receiver.
-- 2. A channel holds at most its capacity. Who waits stands in line and is served in the order of arrival there. A receiver first looks
--    for 2 microseconds, or until all other threads of its Capability have run once, unless the channel is a rendezvous.
-- 3. An operation that ends with an asynchronous exception has done nothing: no item was sent, none
--    was received. If the exception comes too late for that, the operation ends well and the
--    exception arrives at the next point where the thread can be interrupted. Without 'Control.Exception.mask' around
--    it, that point may be right after the operation, before its result is used, as with
--    'Control.Concurrent.MVar.takeMVar'. With 'Control.Exception.mask' around both it and a 'System.Timeout.timeout', that point
--    may be after the 'System.Timeout.timeout'.
-- 4. A thread that waits for a channel that nobody else can reach gets
--    'Control.Exception.BlockedIndefinitelyOnMVar'.
--
-- == Transactions
--
-- There is no receiving in STM. An item leaves a channel by one step, which a transaction that is begun again could not take back. A thread that
-- moves items into a @TQueue@ (@'forEach' chan (atomically . writeTQueue queue)@) does it for the price of both.
--
-- == Cost
--
-- An operation that does not wait is one compare-and-swap and about ten words of memory. No operation
-- takes a lock. Receiving is in constant time on average: the queue is turned now and then. Where there are many items, senders and receivers of a channel
-- without bounds seldom touch the same line of a cache; those of one with bounds do for each item.
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
  )
where

import Capstan.Chan.Protocol (ChanClosed (..))
import qualified Capstan.Chan.Protocol as Protocol
import Capstan.Exception.Internal (invalid)
import Capstan.Task.Thread.Seeded (switchPoint)
import Control.Exception (throwIO)
import GHC.Stack (HasCallStack)

-- | A channel for items of type @a@.
newtype Chan a = Chan (Protocol.Chan IO a)

-- | The same channel.
instance Eq (Chan a) where
  Chan a == Chan b = Protocol.sameChan a b

-- | A channel that holds at most so many items; 'send' waits while it is full. With 0 it is a
-- rendezvous. A negative number is an 'Capstan.Exception.InvalidArgument'.
newBounded :: HasCallStack => Int -> IO (Chan a)
newBounded capacity
  | capacity < 0 = invalid ("Capstan.Chan.newBounded: a capacity of " ++ show capacity ++ "; it must be 0 or more")
  | otherwise = Chan <$> Protocol.newChan capacity

-- | A channel whose 'send' never waits.
newUnbounded :: IO (Chan a)
newUnbounded = newBounded maxBound

-- | A channel that holds nothing: 'send' waits for the receiver that takes the item.
newRendezvous :: IO (Chan a)
newRendezvous = newBounded 0

-- | Sends an item, after waiting for room. Throws 'ChanClosed' if the channel is or becomes closed
-- before there is room; the item was not sent then. Can be interrupted while it waits.
send :: Chan a -> a -> IO ()
send (Chan chan) x = switchPoint >> Protocol.send chan x

-- | Sends an item if there is room now, or, in a rendezvous, if a receiver waits now. Says whether it
-- did. Throws 'ChanClosed' if the channel is closed. Never waits.
sendPoll :: Chan a -> a -> IO Bool
sendPoll (Chan chan) x = switchPoint >> Protocol.sendPoll chan x

-- | Receives the next item, after waiting for one. Throws 'ChanClosed' when the channel is closed and
-- empty. Can be interrupted while it waits.
recv :: Chan a -> IO a
recv chan = recvMaybe chan >>= maybe (throwIO ChanClosed) pure

-- | The same, with 'Nothing' when the channel is closed and empty.
recvMaybe :: Chan a -> IO (Maybe a)
recvMaybe (Chan chan) = switchPoint >> Protocol.recvMaybe chan

-- | Receives the next item if there is one now, or, in a rendezvous, if a sender waits now. 'Nothing'
-- otherwise, also when the channel is closed. Never waits.
recvPoll :: Chan a -> IO (Maybe a)
recvPoll (Chan chan) = switchPoint >> Protocol.recvPoll chan

-- | What there is in a channel now.
data Received a
  = Item a
  | -- | Nothing, but there may be something later.
    Empty
  | -- | Nothing, ever: the channel is closed, and empty.
    End
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | Receives the next item if there is one now, or, in a rendezvous, if a sender waits now; and tells a channel that is empty
-- from one that is at its end. Never waits.
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

-- | Receives all items that there are now, in their order. Never waits, but goes on while others send.
--
-- > late <- drain chan
drain :: Chan a -> IO [a]
drain chan = go []
  where
    go items = recvPoll chan >>= maybe (pure (reverse items)) (\x -> go (x : items))

-- | Receives items, and does that with each, until the channel is closed and empty. Waits for items, as 'recv'. Several threads may do so:
-- each item goes to one of them. What the action throws ends it, and the item is gone.
--
-- > forEach texts (hPutStrLn file)
forEach :: Chan a -> (a -> IO ()) -> IO ()
forEach chan action = recvMaybe chan >>= maybe (pure ()) (\x -> action x >> forEach chan action)

-- | From now on nothing can be sent. Items that were sent can still be received. Threads that wait to
-- send get 'ChanClosed'; threads that wait to receive are told the end. Closing again does nothing.
close :: Chan a -> IO ()
close (Chan chan) = switchPoint >> Protocol.close chan

-- | Whether 'close' was called. The answer may be out of date when it is used, if it is 'False'.
isClosed :: Chan a -> IO Bool
isClosed (Chan chan) = Protocol.isClosed chan

-- | One of the things that 'select' waits for.
newtype Case r = Case (Protocol.Case IO r)

instance Functor Case where
  fmap f (Case c) = Case (fmap f c)

-- | Receive from this channel, and make that of the item. 'Nothing' stands for the end: the channel
-- is closed and empty.
recvCase :: Chan a -> (Maybe a -> r) -> Case r
recvCase (Chan chan) f = Case (Protocol.Case chan f)

-- | Send that to this channel, and make that of it. 'False' stands for the end: the channel is closed, and the item was not sent.
--
-- A 'select' that waits to send has no place in the line of senders. It is told when there is room or a receiver, and looks again; so a 'send' that
-- came later may go first. Calls that never wait, as 'recvPoll', find nothing in a rendezvous where all who would send wait in a 'select'.
sendCase :: Chan a -> a -> (Bool -> r) -> Case r
sendCase (Chan chan) x f = Case (Protocol.SendCase chan x f)

-- | Waits until one of the cases is ready: a channel has an item, has room, or is at its end; and does that one alone.
-- If several are ready, the first of the list is taken. With no cases it waits for ever. Costs about
-- as much as one 'recv' for each channel. Can be interrupted while it waits.
--
-- A rendezvous that is both sent to and received from is an 'Capstan.Exception.InvalidArgument', for a call cannot meet itself.
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
select cases
  | Protocol.meetsItself inner = invalid "Capstan.Chan.select: a rendezvous to send to and to receive from; it may be in the list for one of both"
  | otherwise = switchPoint >> Protocol.select inner
  where
    inner = [c | Case c <- cases]

-- | The same without waiting: 'Nothing' if none is ready.
selectPoll :: [Case r] -> IO (Maybe r)
selectPoll cases = switchPoint >> Protocol.selectPoll [c | Case c <- cases]
