{-# LANGUAGE FlexibleContexts #-}

-- |
-- Module      : Capstan.Chan.State
-- Description : A channel's state, one immutable value, and its transitions
--
-- A channel lies in one value of type 'State'. An operation looks at it, computes the
-- next by one of the pure functions here, and puts it in place by compare-and-swap. Where senders never wait, the oldest items
-- are in a second value, 'Front', so that receivers do not disturb senders. Not for users.
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
  = -- | It is told 'True' when its item was accepted and 'False' when the channel was closed.
    Sender a !(Slot m Bool)
  | -- | It would send to one of several channels, so nobody takes its item. The action tells it that there may be room now: it looks at all of
    -- them again. The key tells it from others.
    Watcher !(Slot m ()) (m ())

-- | A thread that waits for an item. The key tells it from others; the action offers an item, or the
-- news that there will be none, and says whether that was in time: a thread that waits on several
-- channels takes one offer.
data Receiver m a = Receiver !(Slot m ()) (Maybe a -> m Bool)

-- | What a channel holds, but for what is in its 'Front'. Items are in two lists, first those that come first, then the others reversed. The first list
-- may be an unevaluated reversal: the rear is turned by a step of its own ('Turn'), whose work is
-- therefore never repeated when another thread's step comes first.
data State m a
  = -- | So many items; nobody waits.
    Items !Int [a] [a]
  | -- | Of a channel without bounds: the newest items, the last one first; nobody waits. While there are any in the front, there is one here.
    Open [a]
  | -- | The same, but the first list, in its order, goes to the front, which has none until then and is the one of that number.
    Moving !Int [a] [a]
  | -- | So many items as there may be; senders wait.
    Full !Int [a] [a] !(Line (Sender m a))
  | -- | No items; receivers wait.
    Hungry !(Line (Receiver m a))
  | -- | Closed, with the items that are left; nobody waits.
    Closed [a] [a]

-- | The oldest items of a channel without bounds, and how often there were new ones.
data Front a = Front !Int [a]

-- | Whether a channel of this capacity has a front.
unbounded :: Int -> Bool
unbounded = (== maxBound)

-- | A channel of this capacity, without items.
vacant :: Int -> State m a
vacant capacity
  | unbounded capacity = Open []
  | otherwise = Items 0 [] []

-- | Whether there is no item, though there may be some later.
isVacant :: State m a -> Bool
isVacant state = case state of
  Items _ [] [] -> True
  Open [] -> True
  Hungry _ -> True
  Full _ [] [] line -> null (plainSender line)
  _ -> False

-- | Those who wait, at least one: the first, those after it, those last in reverse.
data Line e = Line e [e] [e]

alone :: e -> Line e
alone e = Line e [] []

-- | Puts one more behind the others.
behind :: Line e -> e -> Line e
behind (Line e front rear) new = Line e front (new : rear)

-- | In their order.
everyone :: Line e -> [e]
everyone (Line e front rear) = e : front ++ reverse rear

lineOf :: [e] -> Maybe (Line e)
lineOf [] = Nothing
lineOf (e : front) = Just (Line e front [])

-- | The first, and the others if there are any.
next :: Line e -> (e, Maybe (Line e))
next (Line e (e' : front) rear) = (e, Just (Line e' front rear))
next (Line e [] rear) = (e, lineOf (reverse rear))

-- | What a receiver finds.
data Take m a
  = -- | An item.
    Take a (State m a)
  | -- | An item, and a sender whose own item the new state has accepted: tell it.
    TakeAndTell a (State m a) (Slot m Bool)
  | -- | An item, and there is room now: wake those who watch for it.
    TakeAndWake a (State m a) [m ()]
  | -- | Items, but in the rear: put this state in place and look again.
    Turn (State m a)
  | -- | Items for the front, if it has that number. When they are there the state is to be 'moved'; then look again.
    Move !Int [a]
  | -- | No item.
    Empty
  | -- | No item, now or later.
    Ended

-- | The front has that number, and no items.
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

-- | After the items for the front of that number are there; nothing if somebody has done that.
moved :: Int -> State m a -> Maybe (State m a)
moved due state = case state of
  Moving number _ rear | number == due -> Just (Open rear)
  _ -> Nothing

-- | Where senders wait, the first one's item takes the place of the one that goes. Without any place
-- (a rendezvous), it is the one that goes. Watchers stay where they are, unless nobody else takes the place.
takingFull :: Int -> [a] -> [a] -> Line (Sender m a) -> Take m a
takingFull n front rear line = case (front, plainSender line) of
  (x : front', Just (item, slot, others)) -> TakeAndTell x (full n front' (item : rear) others) slot
  (x : front', Nothing) -> TakeAndWake x (Items (n - 1) front' rear) (watchers (Full n front rear line))
  ([], _) | not (null rear) -> Turn (Full n (reverse rear) [] line)
  ([], Just (item, slot, others)) -> TakeAndTell item (full n [] [] others) slot
  ([], Nothing) -> Empty

-- | The first who is no watcher, its item, and the others.
plainSender :: Line (Sender m a) -> Maybe (a, Slot m Bool, Maybe (Line (Sender m a)))
plainSender line = case next line of
  (Sender item slot, others) -> Just (item, slot, others)
  (Watcher _ _, _) -> case break isPlain (everyone line) of
    (before, Sender item slot : after) -> Just (item, slot, lineOf (before ++ after))
    _ -> Nothing
  where
    isPlain (Sender _ _) = True
    isPlain (Watcher _ _) = False

-- | What tells those who watch that they are to look again.
watchers :: State m a -> [m ()]
watchers (Full _ _ _ line) = [wake | Watcher _ wake <- everyone line]
watchers _ = []

-- | A full channel, with those who wait, if any do.
full :: Int -> [a] -> [a] -> Maybe (Line (Sender m a)) -> State m a
full n front rear = maybe (Items n front rear) (Full n front rear)

-- | What a sender finds.
data Put m a
  = -- | Room.
    Put (State m a)
  | -- | A receiver that waits: offer it the item once this state is in place.
    Give (State m a) (Receiver m a)
  | NoRoom
  | Shut

-- | The number is the channel's capacity.
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

-- | After 'NoRoom'.
waitToSend :: Sender m a -> State m a -> State m a
waitToSend sender state = case state of
  Items n front rear -> Full n front rear (alone sender)
  Full n front rear line -> Full n front rear (line `behind` sender)
  _ -> state

-- | Where there is no item. The 'watchers' of the state before are to be told: a receiver is room.
waitToReceive :: Receiver m a -> State m a -> State m a
waitToReceive receiver state = case state of
  Hungry line -> Hungry (line `behind` receiver)
  _ | isVacant state -> Hungry (alone receiver)
  _ -> state

-- | Without that sender; nothing if it does not wait here any more.
dropSender :: Machine m => Slot m Bool -> State m a -> Maybe (State m a)
dropSender gone (Full n front rear line)
  | any is (everyone line) = Just (full n front rear (lineOf (filter (not . is) (everyone line))))
  where
    is (Sender _ slot) = slot == gone
    is (Watcher _ _) = False
dropSender _ _ = Nothing

-- | Without the watcher of that key; nothing if it does not watch here any more.
dropWatcher :: Machine m => Slot m () -> State m a -> Maybe (State m a)
dropWatcher gone (Full n front rear line)
  | any is (everyone line) = Just (full n front rear (lineOf (filter (not . is) (everyone line))))
  where
    is (Watcher key _) = key == gone
    is (Sender _ _) = False
dropWatcher _ _ = Nothing

-- | Without that receiver; nothing if it does not wait here any more. The number is the channel's capacity.
dropReceiver :: Machine m => Int -> Slot m () -> State m a -> Maybe (State m a)
dropReceiver capacity gone (Hungry line)
  | any is (everyone line) = Just (maybe (vacant capacity) Hungry (lineOf (filter (not . is) (everyone line))))
  where
    is (Receiver key _) = key == gone
dropReceiver _ _ _ = Nothing
