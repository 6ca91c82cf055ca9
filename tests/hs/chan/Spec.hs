-- | Channels as a monitor: each call is one step, which finds a partner or waits. The real channels
-- may show only outcomes that this monitor can show. A selecting thread that could send has no
-- place in the queue of senders. It goes on at some time when it can, and until then other threads
-- do not see it.
module Spec
  ( Call (..),
    Branch (..),
    Program (..),
    allowed,
  )
where

import Data.IntMap.Strict (IntMap)
import qualified Data.IntMap.Strict as IntMap
import Data.List (intercalate)
import Data.Maybe (fromMaybe, listToMaybe)
import qualified Data.Set as Set

-- | The calls; a channel is a number. 'Ring' is the clock of another thread's 'Limited' selection.
data Call = Send Int Char | SendPoll Int Char | Recv Int | RecvPoll Int | Select [Int] | Choose [Branch] | Limited [Branch] | Ring Int | Close Int
  deriving (Eq, Show)

-- | A branch of a selection.
data Branch = Out Int Char | In Int
  deriving (Eq, Ord, Show)

-- | The capacity and the items of each channel, and for each thread its number of interrupts and
-- its calls.
data Program = Program {begun :: [(Int, String)], threadCalls :: [(Int, [Call])]}
  deriving (Show)

data Channel = Channel {room :: Int, items :: String, closed :: Bool}
  deriving (Eq, Ord, Show)

-- | A thread that waits: to send, to receive from several channels, or for one of several branches.
data Waiting = ToSend Int Char | ToReceive [Int] | ToChoose [Branch]
  deriving (Eq, Ord, Show)

data Thread = Thread {interrupts :: Int, shown :: [String], waits :: Maybe Waiting, calls :: Int}
  deriving (Eq, Ord, Show)

-- | The queue @line@ holds the numbers of the waiting threads, in the order of arrival.
data World = World {channels :: IntMap Channel, threads :: IntMap Thread, line :: [Int]}
  deriving (Eq, Ord, Show)

-- | All outcomes that the threads may show. An outcome ends with the remaining items, including
-- those of waiting senders, and the number of waiting receivers.
allowed :: Program -> Set.Set [[String]]
allowed p = Set.map outcome (Set.filter (null . successors p) (reachable Set.empty [begin]))
  where
    begin = World (IntMap.fromList (zip [0 ..] [Channel n there False | (n, there) <- begun p])) (IntMap.fromList (zip [0 ..] [Thread n [] Nothing 0 | (n, _) <- threadCalls p])) []
    reachable seen [] = seen
    reachable seen (w : rest)
      | Set.member w seen = reachable seen rest
      | otherwise = reachable (Set.insert w seen) (successors p w ++ rest)
    outcome w = map (reverse . shown) (IntMap.elems (threads w)) ++ [[intercalate "," [items ch ++ map snd (senders c w) ++ show (length (receivers c w) + watching c ch w) | (c, ch) <- IntMap.toList (channels w)]]]

-- | The number of threads that wait, in a selection, to send to a rendezvous channel. (In a channel
-- with room, the look at its remaining items ends such a wait.)
watching :: Int -> Channel -> World -> Int
watching c ch w = length [() | room ch == 0, n <- line w, Just (ToChoose branches) <- [waits (threads w IntMap.! n)], Out d _ <- branches, d == c]

successors :: Program -> World -> [World]
successors p w = concatMap step (IntMap.toList (threads w))
  where
    step (number, t) = case (waits t, drop (calls t) (snd (threadCalls p !! number))) of
      (Just waiting, _) ->
        [leaves number (over number (interruptedThread number) w) | interrupts t > 0]
          ++ [w' | ToChoose branches <- [waiting], Out c x <- branches, Just w' <- [choose number (Out c x) (over number (\x' -> x' {waits = Nothing}) w)]]
      (Nothing, Ring other : _) ->
        let rung = tell number "rung" (over number (\x -> x {calls = calls x + 1}) w)
         in rung : [tell other "late" rung | isLimited other w, Just _ <- [waits (threads w IntMap.! other)]]
      (Nothing, call : _) -> [perform number call (over number (\x -> x {calls = calls x + 1}) w)]
      (Nothing, []) -> []
    -- The clock may ring before the thread has set it.
    isLimited other world = case drop (calls (threads world IntMap.! other) - 1) (snd (threadCalls p !! other)) of
      Limited _ : _ -> True
      _ -> False
    -- An exception ends the thread.
    interruptedThread number t = t {interrupts = interrupts t - 1, waits = Nothing, shown = "thread killed" : shown t, calls = length (snd (threadCalls p !! number))}

over :: Int -> (Thread -> Thread) -> World -> World
over number f w = w {threads = IntMap.adjust f number (threads w)}

tell :: Int -> String -> World -> World
tell number text = leaves number . over number (\t -> t {shown = text : shown t, waits = Nothing})

ends :: Int -> World -> World
ends number = tell number "ChanClosed" . over number (\t -> t {calls = maxBound `div` 2})

leaves :: Int -> World -> World
leaves number w = w {line = filter (/= number) (line w)}

channel :: Int -> World -> Channel
channel c w = channels w IntMap.! c

onChannel :: Int -> (Channel -> Channel) -> World -> World
onChannel c f w = w {channels = IntMap.adjust f c (channels w)}

-- | The threads that wait to send to, or to receive from, a channel.
senders, receivers :: Int -> World -> [(Int, Char)]
senders c w = [(n, x) | n <- line w, Just (ToSend d x) <- [waits (threads w IntMap.! n)], d == c]
receivers c w = [(n, ' ') | n <- line w, Just waiting <- [waits (threads w IntMap.! n)], c `elem` sources waiting]
  where
    sources (ToReceive ds) = ds
    sources (ToChoose branches) = [d | In d <- branches]
    sources (ToSend _ _) = []

perform :: Int -> Call -> World -> World
perform number call w = case call of
  Send c x -> fromMaybe (wait (ToSend c x)) (put number "sent" c x w)
  SendPoll c x -> fromMaybe (tell number "no" w) (put number "yes" c x w)
  Recv c -> fromMaybe (wait (ToReceive [c])) (get number c w)
  Select cs -> fromMaybe (wait (ToReceive cs)) (listToMaybe [w' | c <- cs, Just w' <- [get number c w]])
  Limited branches -> perform number (Choose branches) w
  Ring _ -> w
  Choose branches -> fromMaybe (wait (ToChoose branches)) (listToMaybe [w' | branch <- branches, Just w' <- [choose number branch w]])
  RecvPoll c
    | closed (channel c w), null (items (channel c w)) -> tell number "nothing" w
    | otherwise -> fromMaybe (tell number "nothing" w) (get number c w)
  Close c -> tell number "closed" (shut c w)
  where
    wait what = over number (\t -> t {waits = Just what}) w {line = line w ++ [number]}

-- | Takes one of several branches, if it is possible now.
choose :: Int -> Branch -> World -> Maybe World
choose number (In c) w = get number c w
choose number (Out c x) w
  | closed (channel c w) = Just (tell number (show c ++ " closed") w)
  | otherwise = put number (show c ++ " took " ++ [x]) c x w

put :: Int -> String -> Int -> Char -> World -> Maybe World
put number said c x w
  | closed (channel c w) = Just (ends number w)
  | (n, _) : _ <- receivers c w = Just (tell number said (tell n (got c x) w))
  | length (items (channel c w)) < room (channel c w) = Just (tell number said (onChannel c (push x) w))
  | otherwise = Nothing

push :: Char -> Channel -> Channel
push x ch = ch {items = items ch ++ [x]}

got :: Int -> Char -> String
got c x = show c ++ [x]

get :: Int -> Int -> World -> Maybe World
get number c w = case (items (channel c w), senders c w) of
  (x : rest, waiting) ->
    let w' = tell number (got c x) (onChannel c (\ch -> ch {items = rest}) w)
     in Just (case waiting of (n, y) : _ -> tell n "sent" (onChannel c (push y) w'); [] -> w')
  ([], (n, x) : _) -> Just (tell number (got c x) (tell n "sent" w))
  ([], []) | closed (channel c w) -> Just (tell number (show c ++ " ended") w)
  _ -> Nothing

shut :: Int -> World -> World
shut c w = onChannel c (\ch -> ch {closed = True}) (foldr ($) w (map (ends . fst) (senders c w) ++ map (\(n, _) -> tell n (show c ++ " ended")) (receivers c w)))
