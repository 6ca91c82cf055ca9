{-# LANGUAGE TypeFamilies #-}

-- | A 'Machine' whose threads run in every order. A step is one access to shared memory, and
-- between two steps of a thread any other thread may run. A thread may be interrupted wherever it
-- waits, up to a given number of times. Orders that differ only in steps on different memory are
-- explored once (sleep sets: Godefroid,
-- /Partial-Order Methods for the Verification of Concurrent Systems/).
module Explore
  ( Explore,
    Thread (..),
    emit,
    explore,
  )
where

import Capstan.Chan.Machine (Machine (..), Waited (..))
import Control.Exception (AsyncException (ThreadKilled), SomeException, toException)
import Control.Monad (ap)
import Data.IntMap.Strict (IntMap)
import qualified Data.IntMap.Strict as IntMap
import Data.List (mapAccumL)
import Data.Map.Strict (Map)
import qualified Data.Map.Strict as Map
import GHC.Exts (Any)
import Unsafe.Coerce (unsafeCoerce)

-- | Shared memory. A cell's value has a version, and the memory knows which version each thread saw
-- last. A swap succeeds if the thread has read the present version.
data World = World
  { worldFresh :: !Int,
    worldCells :: !(IntMap (Int, Any)),
    worldSlots :: !(IntMap Any),
    worldSeen :: !(Map (Int, Int) Int)
  }

-- | The cell or slot that a step touches, and whether it writes there.
data Access = Access !Int !Bool

independent :: Access -> Access -> Bool
independent (Access a writesA) (Access b writesB) = a /= b || not (writesA || writesB)

-- | The next step of a thread.
data Step
  = End
  | -- | Shows a text.
    Emit String Step
  | -- | Touches no memory of another thread.
    Local (World -> (World, Step))
  | -- | Accesses shared memory. The function gets the thread's number.
    Shared Access (Int -> World -> (World, Step))
  | -- | Waits for a slot. The first field tells whether the thread may be interrupted.
    Wait Bool Int (Either SomeException Any -> Step)
  | -- | Waits for an offer. An interrupt closes it.
    WaitOffer Int (Either SomeException Any -> Step)
  | -- | Lets the interrupt come again later.
    Postpone Step
  | -- | Starts threads, and runs the last action when they are done.
    Begin [Thread] (Explore ())

newtype Explore a = Explore ((a -> Step) -> Step)

instance Functor Explore where
  fmap f (Explore m) = Explore (\k -> m (k . f))

instance Applicative Explore where
  pure x = Explore ($ x)
  (<*>) = ap

instance Monad Explore where
  Explore m >>= f = Explore (\k -> m (\x -> let Explore n = f x in n k))

newtype Reference a = Reference Int deriving (Eq)

newtype Hole a = Hole Int deriving (Eq)

fresh :: (Int -> a) -> (Int -> World -> World) -> Explore a
fresh make change = Explore $ \k -> Local $ \w ->
  let name = worldFresh w in (change name w {worldFresh = name + 1}, k (make name))

shared :: Bool -> Int -> (Int -> World -> (World, a)) -> Explore a
shared writes place f = Explore (\k -> Shared (Access place writes) (\thread -> fmap k . f thread))

instance Machine Explore where
  type Cell Explore = Reference
  type Gap Explore = ()
  type Slot Explore = Hole
  newCell x = fresh Reference (\name w -> w {worldCells = IntMap.insert name (0, unsafeCoerce x) (worldCells w)})
  readCell (Reference name) = shared False name $ \thread w ->
    let (version, x) = worldCells w IntMap.! name
     in (w {worldSeen = Map.insert (thread, name) version (worldSeen w)}, unsafeCoerce x)
  replaceCell (Reference name) _ new = shared True name $ \thread w ->
    let (version, _) = worldCells w IntMap.! name
     in if Map.lookup (thread, name) (worldSeen w) == Just version
          then (w {worldCells = IntMap.insert name (version + 1, unsafeCoerce new) (worldCells w)}, True)
          else (w, False)
  newGap _ = pure ()
  type Offer Explore = Hole
  newOffer = fresh Hole (const id)
  fillOffer = fillSlot
  claimOffer (Hole name) = fillSlot (Hole name) ()
  awaitOffer (Hole name) = Explore (\k -> WaitOffer name (k . either Interrupted (Filled . unsafeCoerce)))
  newSlot = fresh Hole (const id)
  fillSlot (Hole name) x = shared True name $ \_ w ->
    if IntMap.member name (worldSlots w)
      then (w, False)
      else (w {worldSlots = IntMap.insert name (unsafeCoerce x) (worldSlots w)}, True)
  awaitSlot (Hole name) = Explore (\k -> Wait True name (k . fmap unsafeCoerce))
  takeSlot (Hole name) = Explore (\k -> Wait False name (either (error "interrupted") (k . unsafeCoerce)))
  lookOut = id
  masked = id
  throw e = Explore (const (Emit (show e) End))
  postpone _ = Explore (\k -> Postpone (k ()))

-- | Adds a text to the thread's output.
emit :: String -> Explore ()
emit text = Explore (Emit text . ($ ()))

-- | A thread, and how often it may be interrupted.
data Thread = Thread !Int (Explore ())

data Running = Running {runningInterrupts :: !Int, runningShown :: [String], runningStep :: Step}

running :: Int -> Explore () -> Running
running interrupts (Explore m) = Running interrupts [] (m (const End))

-- | Runs a thread up to its next step that other threads can see.
settle :: World -> Running -> (World, Running)
settle w thread = case runningStep thread of
  Emit text step -> settle w thread {runningShown = text : runningShown thread, runningStep = step}
  Local f -> let (w', step) = f w in settle w' thread {runningStep = step}
  Postpone step -> settle w thread {runningInterrupts = runningInterrupts thread + 1, runningStep = step}
  _ -> (w, thread)

-- | The possible steps of a thread: its number, the access, and the resulting world and thread.
choices :: World -> (Int, Running) -> [(Int, Access, (World, Running))]
choices w (number, thread) = case runningStep thread of
  Shared access f -> [(number, access, let (w', step) = f number w in settle w' thread {runningStep = step})]
  Wait interruptible place f -> case IntMap.lookup place (worldSlots w) of
    Just x -> [(number, Access place False, settle w thread {runningStep = f (Right x)})]
    Nothing ->
      [ (number, Access place True, settle w thread {runningInterrupts = runningInterrupts thread - 1, runningStep = f (Left (toException ThreadKilled))})
        | interruptible,
          runningInterrupts thread > 0
      ]
  WaitOffer place f -> case IntMap.lookup place (worldSlots w) of
    Just x -> [(number, Access place False, settle w thread {runningStep = f (Right x)})]
    Nothing ->
      [ (number, Access place True, settle (closed place) thread {runningInterrupts = runningInterrupts thread - 1, runningStep = f (Left (toException ThreadKilled))})
        | runningInterrupts thread > 0
      ]
  _ -> []
  where
    closed place = w {worldSlots = IntMap.insert place (unsafeCoerce ()) (worldSlots w)}

-- | The ends of all orders. A sleeping step was explored before, and no step has touched its memory
-- since then.
orders :: [(Int, Access)] -> World -> IntMap Running -> [(World, IntMap Running)]
orders asleep w threads
  | null possible = [(w, threads)]
  | otherwise = go asleep [c | c@(number, _, _) <- possible, number `notElem` map fst asleep]
  where
    possible = concatMap (choices w) (IntMap.toList threads)
    go _ [] = []
    go z ((number, access, (w', thread)) : rest) =
      orders [x | x@(other, a) <- z, other /= number, independent a access] w' (IntMap.insert number thread threads)
        ++ go ((number, access) : z) rest

-- | The output of each thread, for every order. A thread that waits for ever has the output of its
-- steps until then. The action makes the shared data. It returns the threads, and an observer that
-- runs when no thread can go on; the observer's output comes last.
explore :: Explore ([Thread], Explore ()) -> [[[String]]]
explore (Explore begin) = case [(w, runningStep r) | (w, rs) <- uncurry alone (settle empty (Running 0 [] (begin (uncurry Begin)))), r <- IntMap.elems rs] of
  (world, Begin threads end) : _ ->
    let start = mapAccumL settle world [running n m | Thread n m <- threads]
     in [ map (reverse . runningShown) (IntMap.elems ended ++ [aloneIn w end])
          | (w, ended) <- uncurry (orders []) (fmap (IntMap.fromList . zip [0 ..]) start)
        ]
  _ -> error "a program begins by making what it shares"
  where
    empty = World 0 IntMap.empty IntMap.empty Map.empty
    alone w = orders [] w . IntMap.singleton (-1)
    aloneIn w end = case concatMap (IntMap.elems . snd) (uncurry alone (settle w (running 0 end))) of
      thread : _ -> thread
      [] -> error "a program has an end"
