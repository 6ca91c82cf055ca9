{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE FlexibleContexts #-}
-- Who waits in a call holds the channel, not its cells: the collector would copy them first, and the gap between them later.
{-# OPTIONS_GHC -fno-worker-wrapper #-}

-- |
-- Module      : Capstan.Chan.Protocol
-- Description : Channels by compare-and-swap, on any machine
--
-- = The argument
--
-- 1. /One step./ A channel is one cell ("Capstan.Chan.State"). Each change of it is one
--    compare-and-swap from a state to its successor by a pure function, so the changes of a channel
--    have a total order, and what holds of every pure transition holds of the channel: items leave in
--    the order in which they came, none is lost or doubled, there are never more than the capacity.
--    An operation that fails to swap does so because another one succeeded.
--
--    A channel without bounds has a second cell, the front, with its oldest items, so that who takes them does not disturb who sends.
--    They get there in three steps, which may be of three threads: the state becomes 'Moving', with the items and the number of the front,
--    which is empty; the front of that number becomes one with the items, and the next number; the state is 'moved'. Each is done once, no matter how late who
--    tries it comes, as a number never comes again, and the third not before the second. Nothing else fills a front. So a receiver that has read a
--    state that is not 'Moving', and after it an empty front, may go on as if there were no front: while the state is what it has read, the front stays
--    empty. ('replaceCell' must not take a later state for that one; each that has items was built anew, from an item.) One item stays in the state,
--    hence that alone says whether there are any, and 4. holds as it does without a front.
-- 2. /Senders are served by the cell./ A waiting sender's item moves, and the sender leaves the line,
--    in the same step. So an interrupted sender asks the cell: if it can take itself out of the line,
--    nothing was sent; if it is no longer there, the item was accepted, and 'send' returns.
-- 3. /Receivers are served by the slot./ A thread may wait on several channels, so leaving a line says
--    nothing. The thread has one slot, and whoever fills it first decides: a sender with its item, a
--    closer, or the thread itself when it finds an item or is interrupted. A sender first takes the
--    receiver out of the line, then offers; when the offer is refused it still has its item, and
--    begins anew. An item in the slot of a thread that was interrupted is returned, and the exception
--    comes again at the end of the call ('postpone').
-- 4. /Nobody sleeps beside an item./ A receiver joins the line by a step from a state without items,
--    a sender by one from a state without room, so one of them is served by the other's later step.
--    A receiver leaves all lines before its call returns.
-- 5. /Masking./ From the first step that involves another thread until that thread was told, nothing
--    interrupts: the only interruptible call is 'awaitSlot'. What is not masked takes or puts an item by a single swap, before
--    which nothing and after which everything has happened; a swap before that one leaves the channel with the same items.
--
-- 6. /Watchers look again./ A thread that would send to one of several channels has no place in their lines: nobody takes its item. It is told when
--    there is room, or a receiver, or the end, and then leaves all lines and begins anew, with all others that watch. So what it was told may be
--    history, and nothing is lost when it is interrupted instead. It watches only a channel that is full, by a step from a full state; each step that
--    makes room, which no waiting sender takes, is from a state with watchers to one without, and tells those. Before it sends, it fills its own slot,
--    as a receiver does that finds an item: nobody else can serve it then.
--
-- Claiming a waiting thread by one word comes from Reppy, Russo and Xiao, /Parallel Concurrent ML/
-- (ICFP 2009). Two threads that each would both send and receive can fail to claim each other, again and again if they go in step, as there:
-- each has filled its own slot before it finds the other's full. Nobody else is held up by that, and the first difference in speed ends it.
module Capstan.Chan.Protocol
  ( Chan,
    ChanClosed (..),
    newChan,
    sameChan,
    send,
    sendPoll,
    recvMaybe,
    recvPoll,
    Polled (..),
    poll,
    close,
    isClosed,
    waiting,
    Case (..),
    select,
    selectPoll,
    meetsItself,
  )
where

import Capstan.Chan.Machine (Machine (..))
import Capstan.Chan.State
import Capstan.Exception.Internal (capstanFromException, capstanToException)
import Control.Exception (Exception (..), SomeException)
import Control.Monad (void)
import Unsafe.Coerce (unsafeCoerce)

-- | A channel: its capacity, its state, and its front, which is used if there are no bounds, and is kept away from the state then.
data Chan m a = Chan !Int !(Cell m (State m a)) !(Gap m) !(Cell m (Front a))

sameChan :: Eq (Cell m (State m a)) => Chan m a -> Chan m a -> Bool
sameChan (Chan _ a _ _) (Chan _ b _ _) = a == b

-- | Thrown by an operation on a channel that was closed.
data ChanClosed = ChanClosed
  deriving (Eq, Ord, Show)

instance Exception ChanClosed where
  toException = capstanToException
  fromException = capstanFromException

newChan :: Machine m => Int -> m (Chan m a)
newChan capacity = Chan capacity <$> newCell (vacant capacity) <*> newGap twoLines <*> newCell (Front 0 [])
  where
    twoLines = if unbounded capacity then 128 else 0
{-# INLINEABLE newChan #-}

send :: Machine m => Chan m a -> a -> m ()
send chan@(Chan capacity cell _ _) x = do
  old <- readCell cell
  case putting capacity x old of
    Put new -> do
      done <- replaceCell cell old new
      if done then pure () else send chan x
    _ -> settled (sendMasked chan x)
{-# INLINEABLE send #-}

-- | How an operation that may wait ends: well, or well but with an exception that came too late to keep it from that.
data Timely r
  = InTime r
  | Late SomeException r

-- | Runs an operation masked; what came too late arrives in the caller's own state.
settled :: Machine m => m (Timely r) -> m r
settled operation = do
  end <- masked operation
  case end of
    InTime r -> pure r
    Late e r -> r <$ postpone e
{-# INLINE settled #-}

-- | Every case of 'send', the rare ones with it.
sendMasked :: Machine m => Chan m a -> a -> m (Timely ())
sendMasked chan@(Chan capacity cell _ _) x = do
  old <- readCell cell
  case putting capacity x old of
    Put new -> replaceCell cell old new >>= orAgain (pure (InTime ()))
    Give new receiver -> replaceCell cell old new >>= orAgain (hand receiver)
    NoRoom -> do
      slot <- newSlot
      queued <- replaceCell cell old (waitToSend (Sender x slot) old)
      if queued then awaitSender chan slot else sendMasked chan x
    Shut -> throw (toException ChanClosed)
  where
    orAgain action done = if done then action else sendMasked chan x
    hand (Receiver _ give) = give (Just x) >>= orAgain (pure (InTime ()))
{-# INLINEABLE sendMasked #-}

awaitSender :: Machine m => Chan m a -> Slot m Bool -> m (Timely ())
awaitSender (Chan _ cell _ _) slot = awaitSlot slot >>= either interrupted (told (InTime ()))
  where
    told end accepted = if accepted then pure end else throw (toException ChanClosed)
    interrupted e = do
      old <- readCell cell
      case dropSender slot old of
        Nothing -> takeSlot slot >>= told (Late e ())
        Just new -> do
          gone <- replaceCell cell old new
          if gone then throw e else interrupted e
{-# INLINEABLE awaitSender #-}

sendPoll :: Machine m => Chan m a -> a -> m Bool
sendPoll chan x = masked (offer chan x >>= found)
  where
    found Accepted = pure True
    found Declined = pure False
    found Over = throw (toException ChanClosed)
{-# INLINEABLE sendPoll #-}

-- | What became of an item that was to be sent now: sent, not for want of room, or not because the channel is closed.
data Offered = Accepted | Declined | Over

-- | Called masked.
offer :: Machine m => Chan m a -> a -> m Offered
offer chan@(Chan capacity cell _ _) x = do
  old <- readCell cell
  case putting capacity x old of
    Put new -> replaceCell cell old new >>= orAgain
    Give new (Receiver _ give) -> do
      mine <- replaceCell cell old new
      if mine then give (Just x) >>= orAgain else offer chan x
    NoRoom -> pure Declined
    Shut -> pure Over
  where
    orAgain done = if done then pure Accepted else offer chan x
{-# INLINEABLE offer #-}

-- | What there is now: an item, nothing, or the end.
data Polled a = Got a | None | AtEnd

poll :: Machine m => Chan m a -> m (Polled a)
poll chan@(Chan _ _ _ front) = do
  old <- readCell front
  case old of
    Front number (x : others) -> do
      mine <- replaceCell front old (Front number others)
      if mine then pure (Got x) else poll chan
    Front _ [] -> pollState chan
{-# INLINEABLE poll #-}

-- | A 'poll' that found nothing in the front. That is looked at again: see the argument.
pollState :: Machine m => Chan m a -> m (Polled a)
pollState chan@(Chan _ cell _ front) = do
  old <- readCell cell
  Front number items <- readCell front
  case taking number old of
    _ | _ : _ <- items -> poll chan
    Take x new -> replaceCell cell old new >>= orAgain (Got x)
    TakeAndTell {} -> masked (pollMasked chan)
    TakeAndWake {} -> masked (pollMasked chan)
    Turn new -> replaceCell cell old new >> pollState chan
    Move due batch -> masked (move chan due batch) >> poll chan
    Empty -> pure None
    Ended -> pure AtEnd
  where
    orAgain result done = if done then pure result else poll chan
{-# INLINEABLE pollState #-}

-- | Puts items into the front and out of the state, which shall not keep alive what is taken. Both has been done when this returns,
-- whoever did it.
move :: Machine m => Chan m a -> Int -> [a] -> m ()
move chan@(Chan _ cell _ front) due batch = do
  ahead@(Front number _) <- readCell front
  done <- if number == due then replaceCell front ahead (Front (due + 1) batch) else pure True
  if done then settle else move chan due batch
  where
    settle = do
      old <- readCell cell
      case moved due old of
        Nothing -> pure ()
        Just new -> replaceCell cell old new >>= \done -> if done then pure () else settle
{-# INLINEABLE move #-}

-- | A 'poll' that may have a sender to tell, so of a channel with bounds.
pollMasked :: Machine m => Chan m a -> m (Polled a)
pollMasked chan@(Chan _ cell _ _) = do
  old <- readCell cell
  case taking 0 old of
    TakeAndTell x new slot -> do
      mine <- replaceCell cell old new
      if mine then Got x <$ fillSlot slot True else pollMasked chan
    TakeAndWake x new wake -> do
      mine <- replaceCell cell old new
      if mine then Got x <$ sequence_ wake else pollMasked chan
    _ -> poll chan
{-# INLINEABLE pollMasked #-}

recvPoll :: Machine m => Chan m a -> m (Maybe a)
recvPoll chan = found <$> poll chan
  where
    found (Got x) = Just x
    found _ = Nothing
{-# INLINEABLE recvPoll #-}

recvMaybe :: Machine m => Chan m a -> m (Maybe a)
recvMaybe chan = do
  polled <- poll chan
  case polled of
    Got x -> pure (Just x)
    AtEnd -> pure Nothing
    None -> selectLater [Case chan id]
{-# INLINEABLE recvMaybe #-}

close :: Machine m => Chan m a -> m ()
close chan@(Chan _ cell _ _) = masked $ do
  old <- readCell cell
  case old of
    Closed _ _ -> pure ()
    Items _ front rear -> shut old (Closed front rear) (pure ())
    Open rear -> shut old (Closed [] rear) (pure ())
    Moving due batch _ -> move chan due batch >> close chan
    Full _ front rear line -> shut old (Closed front rear) (sequence_ [fillSlot slot False | Sender _ slot <- everyone line] >> sequence_ (watchers old))
    Hungry line -> shut old (Closed [] []) (sequence_ [give Nothing | Receiver _ give <- everyone line])
  where
    shut old new tell = do
      done <- replaceCell cell old new
      if done then tell else close chan
{-# INLINEABLE close #-}

isClosed :: Machine m => Chan m a -> m Bool
isClosed (Chan _ cell _ _) = shut <$> readCell cell
  where
    shut (Closed _ _) = True
    shut _ = False
{-# INLINEABLE isClosed #-}

-- | How many threads wait in the channel's lines. For tests: nobody may stay there who has gone on.
waiting :: Machine m => Chan m a -> m Int
waiting (Chan _ cell _ _) = count <$> readCell cell
  where
    count (Hungry line) = length (everyone line)
    count (Full _ _ _ line) = length (everyone line)
    count _ = 0
{-# INLINEABLE waiting #-}

data Case m r
  = -- | A channel to receive from, and what to make of its item, or of its end.
    forall a. Case (Chan m a) (Maybe a -> r)
  | -- | A channel to send to, the item, and what to make of that it was sent, or that the channel is closed.
    forall a. SendCase (Chan m a) a (Bool -> r)

instance Functor (Case m) where
  fmap f (Case chan g) = Case chan (f . g)
  fmap f (SendCase chan x g) = SendCase chan x (f . g)

-- | Whether a rendezvous is in the list both to send to and to receive from: its own watcher would wake it for ever.
meetsItself :: [Case IO r] -> Bool
meetsItself cases = or [sameChan to (unsafeCoerce from) | SendCase to@(Chan 0 _ _ _) _ _ <- cases, Case from _ <- cases]

selectPoll :: Machine m => [Case m r] -> m (Maybe r)
selectPoll [] = pure Nothing
selectPoll (Case chan f : rest) = do
  polled <- poll chan
  case polled of
    Got x -> pure (Just (f (Just x)))
    AtEnd -> pure (Just (f Nothing))
    None -> selectPoll rest
selectPoll (SendCase chan x f : rest) = masked (offer chan x) >>= maybe (selectPoll rest) (pure . Just . f) . wasSent
{-# INLINEABLE selectPoll #-}

-- | Whether the item was sent, if the channel is not full.
wasSent :: Offered -> Maybe Bool
wasSent Accepted = Just True
wasSent Over = Just False
wasSent Declined = Nothing

select :: Machine m => [Case m r] -> m r
select cases = selectPoll cases >>= maybe (selectLater cases) pure
{-# INLINEABLE select #-}

-- | Where nothing was found. Who joins a line makes work for the one who serves it; so not at once, unless senders can only serve a line.
selectLater :: Machine m => [Case m r] -> m r
selectLater cases = early >>= maybe (settled (selectMasked cases)) pure
  where
    early = if all roomy cases then lookOut (selectPoll cases) else pure Nothing
    roomy (Case (Chan capacity _ _ _) _) = capacity > 0
    roomy (SendCase (Chan capacity _ _ _) _ _) = capacity > 0
{-# INLINEABLE selectLater #-}

-- | What was put into the slot of a waiting receiver, or watcher.
data Outcome r
  = -- | By a sender or a closer.
    Served r
  | -- | By somebody who made room, or closed: nothing has happened yet.
    LookAgain
  | -- | By the receiver itself: nobody else may serve it.
    Mine

-- | Waits in the lines of all channels.
selectMasked :: Machine m => [Case m r] -> m (Timely r)
selectMasked cases = do
  slot <- newSlot
  key <- newSlot
  outcome <- enqueue slot key cases
  case outcome of
    Found r -> leave key cases >> pure (InTime r)
    Lost -> leave key cases >> selectMasked cases
    Waiting -> awaitSlot slot >>= either (interrupted slot key) (finish key InTime)
  where
    finish key end (Served r) = end r <$ leave key others
    -- Who fills its own slot does not wait for it.
    finish key _ _ = leave key cases >> selectMasked cases
    -- Who serves a line takes out the one that it serves.
    others = case cases of
      [_] -> []
      _ -> cases
    interrupted slot key e = do
      mine <- fillSlot slot Mine
      if mine
        then givenUp
        else takeSlot slot >>= late
      where
        givenUp = leave key cases >> throw e
        late LookAgain = givenUp
        late outcome = finish key (Late e) outcome
{-# INLINEABLE selectMasked #-}

data Enqueued r
  = -- | In all lines, or served by somebody on the way.
    Waiting
  | -- | A channel had an item.
    Found r
  | -- | A channel had an item and has it no more.
    Lost

-- | Joins the lines of the channels, one after another, unless one is found ready.
enqueue :: Machine m => Slot m (Outcome r) -> Slot m () -> [Case m r] -> m (Enqueued r)
enqueue _ _ [] = pure Waiting
enqueue slot key cases@(Case chan@(Chan _ cell _ _) f : rest) = do
  old <- readCell cell
  if isVacant old
    then do
      queued <- replaceCell cell old (waitToReceive receiver old)
      if queued then sequence_ (watchers old) >> enqueue slot key rest else enqueue slot key cases
    else do
      -- Before the item is taken, nobody may be about to give another.
      mine <- fillSlot slot Mine
      if mine then taken <$> poll chan else pure Waiting
  where
    receiver = Receiver key (fillSlot slot . Served . f)
    taken (Got x) = Found (f (Just x))
    taken AtEnd = Found (f Nothing)
    taken None = Lost
enqueue slot key cases@(SendCase chan@(Chan capacity cell _ _) x f : rest) = do
  old <- readCell cell
  case putting capacity x old of
    NoRoom -> do
      watched <- replaceCell cell old (waitToSend (Watcher key (void (fillSlot slot LookAgain))) old)
      enqueue slot key (if watched then rest else cases)
    _ -> do
      mine <- fillSlot slot Mine
      if mine then maybe Lost (Found . f) . wasSent <$> offer chan x else pure Waiting
{-# INLINEABLE enqueue #-}

-- | Leaves all lines.
leave :: Machine m => Slot m () -> [Case m r] -> m ()
leave key = mapM_ out
  where
    out (Case (Chan capacity cell _ _) _) = without cell (dropReceiver capacity key)
    out (SendCase (Chan _ cell _ _) _ _) = without cell (dropWatcher key)
    without cell change = do
      old <- readCell cell
      case change old of
        Nothing -> pure ()
        Just new -> do
          gone <- replaceCell cell old new
          if gone then pure () else without cell change
{-# INLINEABLE leave #-}
