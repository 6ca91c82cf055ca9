{-# LANGUAGE FlexibleContexts #-}

-- |
-- Module      : Capstan.Chan.State
-- Description : A channel's state, one immutable value, and its transitions
--
-- A channel is one value of type 'State'. An operation reads it, computes the next state by a pure
-- function of this module, and puts that state in place by compare-and-swap. If senders never wait,
-- the oldest items are in a second value, 'Front', so that receivers do not disturb senders. Not
-- for users.
module Capstan.Chan.State
  ( State (..),
    Front (..),
    unbounded,
    vacant,
    isVacant,
    Sender (..),
    Receiver (..),
    Line,
    alone,
    behind,
    everyone,

    -- * Transitions
    Take (..),
    taking,
    moved,
    Put (..),
    putting,
    waitToSend,
    waitToReceive,
    watchers,
    dropSender,
    dropWatcher,
    dropReceiver,
  )
where

import Capstan.Chan.Machine (Machine (..))

-- | A thread that waits for room.
data Sender m a
  = -- | A sender with its item. The slot gets 'True' when the item is accepted, and 'False' when
    -- the channel is closed.
    Sender a !(Slot m Bool)
  | -- | A thread that waits to send to one of several channels, so receivers do not take its item
    -- here. The action notifies it that the channel may have room; then it tries all its channels
    -- again. The key identifies the watcher.
    Watcher !(Slot m ()) (m ())

-- | A thread that waits for an item. The key identifies the receiver. The action offers an item, or
-- 'Nothing' when the channel is closed. It returns whether the offer was in time, as a thread that
-- waits on several channels takes only one offer.
data Receiver m a = Receiver !(Slot m ()) (Maybe a -> m Bool)

-- | The contents of a channel, except for the items in its 'Front'. Items are in two lists: the
-- first list has the oldest items in order, and the second list, the rear, has the newer items
-- reversed. The first list may be an unevaluated reversal, because a step of its own ('Turn')
-- reverses the rear. So this work is never repeated if another thread's step comes first.
data State m a
  = -- | The number of items, and the items. No thread waits.
    Items !Int [a] [a]
  | -- | A channel without bounds: the newest items, with the last item first. No thread waits.
    -- While the front has items, this list has at least one.
    Open [a]
  | -- | As 'Open', while a batch moves: the first list, in its order, goes to the front with that
    -- number, which is empty until then.
    Moving !Int [a] [a]
  | -- | As many items as the capacity allows. Senders wait.
    Full !Int [a] [a] !(Line (Sender m a))
  | -- | No items. Receivers wait.
    Hungry !(Line (Receiver m a))
  | -- | Closed, with the remaining items. No thread waits.
    Closed [a] [a]

-- | The oldest items of a channel without bounds. The number counts the batches that were moved to
-- the front.
data Front a = Front !Int [a]

-- | Whether a channel of this capacity has a front.
unbounded :: Int -> Bool
unbounded = (== maxBound)

-- | A channel of this capacity, without items.
vacant :: Int -> State m a
vacant capacity
  | unbounded capacity = Open []
  | otherwise = Items 0 [] []

-- | Whether a channel has no item now, but may have items later.
isVacant :: State m a -> Bool
isVacant state = case state of
  Items _ [] [] -> True
  Open [] -> True
  Hungry _ -> True
  Full _ [] [] line -> null (plainSender line)
  _ -> False

-- | The waiting threads, at least one: the first thread, the threads after it, and the last threads
-- reversed.
data Line e = Line e [e] [e]

alone :: e -> Line e
alone e = Line e [] []

-- | Adds a thread at the end of the line.
behind :: Line e -> e -> Line e
behind (Line e front rear) new = Line e front (new : rear)

-- | All waiting threads, in their order.
everyone :: Line e -> [e]
everyone (Line e front rear) = e : front ++ reverse rear

lineOf :: [e] -> Maybe (Line e)
lineOf [] = Nothing
lineOf (e : front) = Just (Line e front [])

-- | The first thread, and the line of the other threads, if there are any.
next :: Line e -> (e, Maybe (Line e))
next (Line e (e' : front) rear) = (e, Just (Line e' front rear))
next (Line e [] rear) = (e, lineOf (reverse rear))

-- | The next step of a receiver.
data Take m a
  = -- | Take an item.
    Take a (State m a)
  | -- | Take an item. The new state has accepted the item of a waiting sender: notify that sender.
    TakeAndTell a (State m a) (Slot m Bool)
  | -- | Take an item. The channel has room now: wake the watchers.
    TakeAndWake a (State m a) [m ()]
  | -- | Only the rear has items: put this state in place and look again.
    Turn (State m a)
  | -- | Put these items into the front, if it has that number. Then put the 'moved' state in place,
    -- and look again.
    Move !Int [a]
  | -- | No item now.
    Empty
  | -- | No item, now or later.
    Ended

-- | The next step of a receiver, if the front has that number and no items.
taking :: Int -> State m a -> Take m a
taking number state = case state of
  Items n (x : front) rear -> Take x (Items (n - 1) front rear)
  Items n [] rear@(_ : _) -> Turn (Items n (reverse rear) [])
  Items _ [] [] -> Empty
  Open [] -> Empty
  Open [x] -> Take x (Open [])
  Open [x, first] -> Take first (Open [x])
  Open (x : older) -> Turn (Moving number (reverse older) [x])
  Moving due batch _ -> Move due batch
  Hungry _ -> Empty
  Full n front rear line -> takingFull n front rear line
  Closed (x : front) rear -> Take x (Closed front rear)
  Closed [] rear@(_ : _) -> Turn (Closed (reverse rear) [])
  Closed [] [] -> Ended
{-# INLINE taking #-}

-- | The state after the front with that number has got its items. 'Nothing' if another thread has
-- already put this state in place.
moved :: Int -> State m a -> Maybe (State m a)
moved due state = case state of
  Moving number _ rear | number == due -> Just (Open rear)
  _ -> Nothing

-- | The next step of a receiver, if senders wait. The item of the first sender takes the place of
-- the item that leaves. In a rendezvous, which has no place, the sender's item itself leaves.
-- Watchers stay in line, unless no sender takes the place.
takingFull :: Int -> [a] -> [a] -> Line (Sender m a) -> Take m a
takingFull n front rear line = case (front, plainSender line) of
  (x : front', Just (item, slot, others)) -> TakeAndTell x (full n front' (item : rear) others) slot
  (x : front', Nothing) -> TakeAndWake x (Items (n - 1) front' rear) (watchers (Full n front rear line))
  ([], _) | not (null rear) -> Turn (Full n (reverse rear) [] line)
  ([], Just (item, slot, others)) -> TakeAndTell item (full n [] [] others) slot
  ([], Nothing) -> Empty

-- | The item and the slot of the first sender that is no watcher, and the line of the other
-- threads.
plainSender :: Line (Sender m a) -> Maybe (a, Slot m Bool, Maybe (Line (Sender m a)))
plainSender line = case next line of
  (Sender item slot, others) -> Just (item, slot, others)
  (Watcher _ _, _) -> case break isPlain (everyone line) of
    (before, Sender item slot : after) -> Just (item, slot, lineOf (before ++ after))
    _ -> Nothing
  where
    isPlain (Sender _ _) = True
    isPlain (Watcher _ _) = False

-- | The actions that wake the watchers.
watchers :: State m a -> [m ()]
watchers (Full _ _ _ line) = [wake | Watcher _ wake <- everyone line]
watchers _ = []

-- | A channel with this number of items, full if threads wait.
full :: Int -> [a] -> [a] -> Maybe (Line (Sender m a)) -> State m a
full n front rear = maybe (Items n front rear) (Full n front rear)

-- | The next step of a sender.
data Put m a
  = -- | The channel has room: put this state in place.
    Put (State m a)
  | -- | A receiver waits: put this state in place, then offer the item to the receiver.
    Give (State m a) (Receiver m a)
  | NoRoom
  | Shut

-- | The next step of a sender of an item. The number is the channel's capacity.
putting :: Int -> a -> State m a -> Put m a
putting capacity x state = case state of
  Items n front rear
    | n < capacity -> Put (Items (n + 1) front (x : rear))
    | otherwise -> NoRoom
  Full {} -> NoRoom
  Open rear -> Put (Open (x : rear))
  Moving due batch rear -> Put (Moving due batch (x : rear))
  Hungry line -> let (first, others) = next line in Give (maybe (vacant capacity) Hungry others) first
  Closed _ _ -> Shut
{-# INLINE putting #-}

-- | The state with one more waiting sender, after 'NoRoom'.
waitToSend :: Sender m a -> State m a -> State m a
waitToSend sender state = case state of
  Items n front rear -> Full n front rear (alone sender)
  Full n front rear line -> Full n front rear (line `behind` sender)
  _ -> state

-- | The state with one more waiting receiver, if the channel has no item. The caller wakes the
-- 'watchers' of the old state, because a watcher can send to this receiver.
waitToReceive :: Receiver m a -> State m a -> State m a
waitToReceive receiver state = case state of
  Hungry line -> Hungry (line `behind` receiver)
  _ | isVacant state -> Hungry (alone receiver)
  _ -> state

-- | The state without that sender. 'Nothing' if the sender no longer waits here.
dropSender :: Machine m => Slot m Bool -> State m a -> Maybe (State m a)
dropSender gone (Full n front rear line)
  | any is (everyone line) = Just (full n front rear (lineOf (filter (not . is) (everyone line))))
  where
    is (Sender _ slot) = slot == gone
    is (Watcher _ _) = False
dropSender _ _ = Nothing

-- | The state without the watcher with that key. 'Nothing' if it no longer watches here.
dropWatcher :: Machine m => Slot m () -> State m a -> Maybe (State m a)
dropWatcher gone (Full n front rear line)
  | any is (everyone line) = Just (full n front rear (lineOf (filter (not . is) (everyone line))))
  where
    is (Watcher key _) = key == gone
    is (Sender _ _) = False
dropWatcher _ _ = Nothing

-- | The state without the receiver with that key. 'Nothing' if it no longer waits here. The number
-- is the channel's capacity.
dropReceiver :: Machine m => Int -> Slot m () -> State m a -> Maybe (State m a)
dropReceiver capacity gone (Hungry line)
  | any is (everyone line) = Just (maybe (vacant capacity) Hungry (lineOf (filter (not . is) (everyone line))))
  where
    is (Receiver key _) = key == gone
dropReceiver _ _ _ = Nothing
