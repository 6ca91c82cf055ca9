{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE FlexibleContexts #-}
-- Without a worker-wrapper split, a waiting call holds the channel, not its cells. If it held the
-- cells, the collector would copy them first and the gap between them later.
{-# OPTIONS_GHC -fno-worker-wrapper #-}

-- |
-- Module      : Capstan.Chan.Protocol
-- Description : Channels by compare-and-swap, on any machine
--
-- = The argument
--
-- 1. /One step./ A channel is one cell ("Capstan.Chan.State"). Each change of it is one
--    compare-and-swap from a state to its successor by a pure function. So the changes of a channel
--    have a total order, and a property of all pure transitions is a property of the channel. Items
--    leave in the order in which they came, no item is lost or doubled, and their number never
--    exceeds the capacity. A swap fails only because another operation's swap succeeded.
--
--    A channel without bounds has a second cell, the front, with its oldest items, so that
--    receivers do not disturb senders. Items get there in three steps, which different threads may
--    perform. First the state becomes 'Moving', with the items and the number of the front, which
--    is empty. Second, the front of that number is replaced by a front with the items and the next
--    number. Third, the state becomes the 'moved' state. Each step happens once, however late a
--    thread tries it, as a number never comes again. The third step comes after the second. No
--    other step fills a front. So suppose that a receiver has read a state that is not 'Moving',
--    and after it an empty front. Then the front stays empty while the state stays the same, and
--    the receiver may continue as if the channel had no front. ('replaceCell' must not mistake a
--    later state for that state; each state with items is a new object, built from an item.) One
--    item stays in the state, so the state alone says whether the channel has items, and 4. holds
--    as without a front.
-- 2. /Senders are served by the cell./ A waiting sender's item moves, and the sender leaves the
--    line, in the same step. So an interrupted sender looks at the cell. If it can take itself out
--    of the line, nothing was sent. If it is no longer in the line, the item was accepted, and
--    'send' returns.
-- 3. /Receivers are served by the slot./ A thread may wait on several channels, so leaving a line
--    decides nothing. The thread makes one offer, and the first to fill or claim it decides. This
--    may be a sender with its item, a closer, a limit of time, or the thread itself, when it finds
--    an item. A sender first takes the receiver out of the line and then fills the offer. If it is
--    refused, the sender still has its item and begins anew. The offer of an interrupted thread refuses all
--    values, so such a thread has received nothing. An offer may also refuse a value although its
--    thread goes on to wait ('Missed'). That thread begins anew, as after a notification (6.).
-- 4. /No receiver sleeps beside an item./ A receiver joins the line by a step from a state without
--    items. A sender joins by a step from a state without room. So the later step of a sender
--    serves a waiting receiver, and that of a receiver serves a waiting sender. A receiver leaves
--    all lines before its call returns.
-- 5. /Masking./ Between the first step that involves another thread and the notification of that
--    thread, no exception arrives: the only interruptible calls are 'awaitSlot' and 'awaitOffer'. Code that is not
--    masked takes or puts an item by a single swap: before it nothing has happened, and after it
--    everything. Any earlier swap of such code leaves the channel with the same items.
--
-- 6. /Watchers look again./ A thread that waits to send to one of several channels is only a
--    watcher in their lines: no receiver takes its item from there. It is notified when a channel
--    has room, has a receiver, or is closed. Then this watcher, and all others of that channel,
--    leave all lines and begin anew. So a notification may be out of date, and nothing is lost if
--    an exception interrupts the watcher instead. A thread watches only a full channel, by a step
--    from a full state. If a step makes room that no waiting sender takes, it leads from a state
--    with watchers to a state without, and notifies them. Before a watcher sends, it claims its own
--    offer, as a receiver does that finds an item: then no other thread can serve it.
--
-- The claim of a waiting thread by one word comes from Reppy, Russo and Xiao, /Parallel Concurrent
-- ML/ (ICFP 2009). As there, two threads that each both send and receive can fail to claim each
-- other, because each fills its own slot before it finds the other's slot full. If they run in
-- step, this can happen again and again. It delays no other thread, and the first difference in
-- speed ends it.
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
    selectUntil,
    meetsItself,
  )
where

import Capstan.Chan.Machine (Machine (..), Waited (..))
import Capstan.Chan.State
import Capstan.Exception (capstanFromException, capstanToException)
import Control.Exception (Exception (..), SomeException)
import Control.Monad (void)
import Unsafe.Coerce (unsafeCoerce)

-- | A channel: its capacity, its state, a gap, and its front. Only a channel without bounds uses
-- the front and has a gap between front and state.
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

-- | The end of an operation that may wait: it succeeded in time, or it succeeded and then an
-- exception arrived too late.
data Timely r
  = InTime r
  | Late SomeException r

-- | Runs an operation with exceptions masked. An exception that came too late arrives in the
-- caller's own masking state.
settled :: Machine m => m (Timely r) -> m r
settled operation = do
  end <- masked operation
  case end of
    InTime r -> pure r
    Late e r -> r <$ postpone e
{-# INLINE settled #-}

-- | All cases of 'send', including the rare cases.
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

-- | The result of an attempt to send without waiting: the item was sent, there was no room, or the
-- channel is closed.
data Offered = Accepted | Declined | Over

-- | Sends without waiting. The caller has masked exceptions.
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

-- | The result of 'poll': an item, no item now, or the end of the channel.
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

-- | The rest of a 'poll' that found the front empty. It reads the front again: see step 1 of the
-- argument.
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

-- | Moves items from the state to the front, so that the state does not keep taken items alive.
-- When it returns, both steps are done, by this thread or by another.
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

-- | A 'poll' of a channel with bounds, which may have to notify a sender.
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
    None -> selectLater forever [Case chan id]
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

-- | The number of threads in the channel's lines. Tests check that no thread stays there after its
-- call.
waiting :: Machine m => Chan m a -> m Int
waiting (Chan _ cell _ _) = count <$> readCell cell
  where
    count (Hungry line) = length (everyone line)
    count (Full _ _ _ line) = length (everyone line)
    count _ = 0
{-# INLINEABLE waiting #-}

data Case m r
  = -- | A channel to receive from, and a function of its item, or of 'Nothing' at its end.
    forall a. Case (Chan m a) (Maybe a -> r)
  | -- | A channel to send to, the item, and a function that learns whether the item was sent or the
    -- channel is closed.
    forall a. SendCase (Chan m a) a (Bool -> r)

instance Functor (Case m) where
  fmap f (Case chan g) = Case chan (f . g)
  fmap f (SendCase chan x g) = SendCase chan x (f . g)

-- | Whether the list both sends to and receives from a rendezvous: the call's own watcher would
-- wake it for ever.
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

-- | Whether the item was sent. 'Nothing' if the channel is full.
wasSent :: Offered -> Maybe Bool
wasSent Accepted = Just True
wasSent Over = Just False
wasSent Declined = Nothing

select :: Machine m => [Case m r] -> m r
select cases = selectPoll cases >>= maybe (selectLater forever cases) pure
{-# INLINEABLE select #-}

-- | As 'select', until an alarm goes off: then the result is 'Nothing', and no case was performed.
-- The alarm gets an action and runs it when the time is over. It returns an action that stops it.
selectUntil :: Machine m => (m () -> m (m ())) -> [Case m r] -> m (Maybe r)
selectUntil alarm cases = selectPoll limited >>= maybe (selectLater (\fill -> alarm (void (fill (Expired Nothing)))) limited) pure
  where
    limited = map (fmap Just) cases
{-# INLINEABLE selectUntil #-}

-- | Starts the limit of a wait, from a function that ends the wait, and returns the action that
-- stops it.
type Limit m r = (Outcome r -> m Bool) -> m (m ())

forever :: Machine m => Limit m r
forever _ = pure (pure ())
{-# INLINE forever #-}

-- | The rest of a 'select' that found no ready case. A thread that joins a line makes work for the
-- thread that serves it. So the call polls for a moment first, unless a channel is a rendezvous,
-- whose senders can serve only a line.
selectLater :: Machine m => Limit m r -> [Case m r] -> m r
selectLater limit cases = early >>= maybe (settled (selectMasked limit cases)) pure
  where
    early = if all roomy cases then lookOut (selectPoll cases) else pure Nothing
    roomy (Case (Chan capacity _ _ _) _) = capacity > 0
    roomy (SendCase (Chan capacity _ _ _) _ _) = capacity > 0
{-# INLINE selectLater #-}

-- | The value that is offered to a waiting receiver or watcher.
data Outcome r
  = -- | By a sender or a closer.
    Served r
  | -- | By a thread that made room or closed a channel. Nothing was sent or received yet.
    LookAgain
  | -- | By the limit of time: nothing was sent or received.
    Expired r

-- | Waits in the lines of all channels.
selectMasked :: Machine m => Limit m r -> [Case m r] -> m (Timely r)
selectMasked limit cases = begin
  where
    begin = do
      place <- newOffer
      key <- newSlot
      outcome <- enqueue place key cases
      case outcome of
        Found r -> leave key cases >> pure (InTime r)
        Lost -> again key
        Waiting -> do
          stop <- limit (fillOffer place)
          end <- awaitOffer place
          stop >> finish key end
    again key = leave key cases >> begin
    finish key end = case end of
      Filled (Served r) -> InTime r <$ leave key others
      FilledLate e (Served r) -> Late e r <$ leave key others
      Filled (Expired r) -> InTime r <$ leave key cases
      FilledLate e _ -> leave key cases >> throw e
      Interrupted e -> leave key cases >> throw e
      Filled LookAgain -> again key
      Missed -> again key
    -- The thread that served this one has already taken it out of that line.
    others = case cases of
      [_] -> []
      _ -> cases
{-# INLINE selectMasked #-}

data Enqueued r
  = -- | The thread is in all lines, or another thread has served it meanwhile.
    Waiting
  | -- | A channel had an item.
    Found r
  | -- | A channel had an item, but another thread has taken it.
    Lost

-- | Joins the lines of the channels, one after another, until a channel is ready.
enqueue :: Machine m => Offer m (Outcome r) -> Slot m () -> [Case m r] -> m (Enqueued r)
enqueue _ _ [] = pure Waiting
enqueue place key cases@(Case chan@(Chan _ cell _ _) f : rest) = do
  old <- readCell cell
  if isVacant old
    then do
      queued <- replaceCell cell old (waitToReceive receiver old)
      if queued then sequence_ (watchers old) >> enqueue place key rest else enqueue place key cases
    else do
      -- Before this thread takes the item, it must exclude that another thread gives it one.
      mine <- claimOffer place
      if mine then taken <$> poll chan else pure Waiting
  where
    receiver = Receiver key (fillOffer place . Served . f)
    taken (Got x) = Found (f (Just x))
    taken AtEnd = Found (f Nothing)
    taken None = Lost
enqueue place key cases@(SendCase chan@(Chan capacity cell _ _) x f : rest) = do
  old <- readCell cell
  case putting capacity x old of
    NoRoom -> do
      watched <- replaceCell cell old (waitToSend (Watcher key (void (fillOffer place LookAgain))) old)
      enqueue place key (if watched then rest else cases)
    _ -> do
      mine <- claimOffer place
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
