{-# LANGUAGE TypeFamilies #-}

-- | A 'Machine' whose threads run in every order. A step is one access to shared memory; between two
-- steps of a thread any other thread may run, and a thread may be interrupted, so often as is said,
-- wherever it waits. Orders that differ only in steps that do not touch the same memory are explored
-- once (sleep sets: Godefroid, /Partial-Order Methods for the Verification of Concurrent Systems/).
module Explore
  ( Explore,
    Thread (..),
    emit,
    explore,
  )
where

import Capstan.Chan.Machine (Machine (..))
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
-- last: a swap succeeds where the thread read the present one.
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

-- | What a thread does next.
data Step
  = End
  | -- | Shows something.
    Emit String Step
  | -- | Touches nothing that another thread knows of.
    Local (World -> (World, Step))
  | -- | The function is given the thread's number.
    Shared Access (Int -> World -> (World, Step))
  | -- | Waits for a slot, and may be interrupted if the first says so.
    Wait Bool Int (Either SomeException Any -> Step)
  | -- | Is to be interrupted again.
    Postpone Step
  | -- | Starts threads; the last one runs when they are done.
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

-- | Adds to what the thread has to show.
emit :: String -> Explore ()
emit text = Explore (Emit text . ($ ()))

-- | A thread, and how often it may be interrupted.
data Thread = Thread !Int (Explore ())

data Running = Running {runningInterrupts :: !Int, runningShown :: [String], runningStep :: Step}

running :: Int -> Explore () -> Running
running interrupts (Explore m) = Running interrupts [] (m (const End))

-- | Up to the next step that others can see.
settle :: World -> Running -> (World, Running)
settle w thread = case runningStep thread of
  Emit text step -> settle w thread {runningShown = text : runningShown thread, runningStep = step}
  Local f -> let (w', step) = f w in settle w' thread {runningStep = step}
  Postpone step -> settle w thread {runningInterrupts = runningInterrupts thread + 1, runningStep = step}
  _ -> (w, thread)

-- | What a thread of that number may do: what it touches, and what becomes of it.
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
  _ -> []

-- | How all orders end. A step that sleeps was explored before, and nothing has touched its memory
-- since.
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

-- | What each thread showed, for every order; a thread that waits for ever shows what it had until
-- then. The action makes what the threads share, and returns them and who looks at what is left when
-- none can go on; what that one shows comes last.
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
