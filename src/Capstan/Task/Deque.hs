{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Deque
-- Description : A work-stealing deque for each Capability
--
-- A deque is a ring of entries with three indices, @top <= split <= bottom@:
--
-- >        top        split       bottom
-- >   taken | public    | private   |
-- >         thieves     owner only
--
-- Thieves take the entry at @top@; the owner, which is the Capability, pushes and pops at @bottom@.
-- The private part is the owner's alone, so pushing there and popping from there needs neither an
-- atomic operation nor a fence. The idea of a split deque is Dinan and others' (2009); Lace (van
-- Dijk and van de Pol, 2014) has it for fork and join. The owner moves @split@ up when a worker is
-- hungry or the public part is empty, and down when it has popped its private part empty.
--
-- == Why it is right
--
-- @top@ and @split@ share a word that changes by compare-and-swap only; @bottom@ is written by the
-- owner only.
--
-- (D1) A thief that swaps @top@ from @t@ to @t + 1@ while @t < split@ owns slot @t@ alone: no
-- second thief can swap from @t@, and the owner pops an index only when it is not below @split@. To
-- lower @split@ it swaps the same word, and one of the two swaps fails.
--
-- (D2) The thief reads slot @t@ /after/ its swap. So it cannot hold an entry from an earlier life of
-- the index, whatever the word did between its read and its swap: only that @t@ is public at the
-- moment of the swap matters, and (D1) keeps the slot as it is from then on.
--
-- (D3) The owner writes the slot before it publishes the index (@release_fence@, and the swap itself).
-- The thief's swap acquires, so it sees the entry and all that the entry refers to.
--
-- (D4) A thief clears its slot after it has read it, and the owner pushes only into a cleared slot.
-- So a ring that comes round never overwrites what a slow thief has still to read; it is full.
--
-- (D5) Between two heap checks, one Haskell thread runs on a Capability. The owner's operations are C--
-- without heap checks, so two threads of one Capability never mix theirs.
--
-- Indices count modulo 2^32, which is far above the ring's size. An entry is a task whose claim
-- ("Capstan.Task.Cell") decides who runs the task, so an entry that is met twice or late is harmless.
module Capstan.Task.Deque
  ( Entry (..),
    entryOf,
    Deques,
    newDeques,
    capacity,
    ringSize,
    Flags,
    newFlags,
    addSearching,
    anySearching,
    setIdle,
    setReady,
    push,
    pop,
    publish,
    hungry,
    steal,
    hasPublic,
    hasPrivate,
    capability,
  )
where

import Capstan.Task.Cell (Cell (..), Phase (..), Status (..), newCell)
import Capstan.Task.Counters (Counters (..))
import Control.Monad (forM_)
import Data.Bits (unsafeShiftR, (.&.), (.|.))
import GHC.Exts
import GHC.IO (IO (..))
import Unsafe.Coerce (unsafeCoerce)

-- | What lies in a deque: the cell of a task.
newtype Entry = Entry (Cell Any)

-- | A task, for a deque.
entryOf :: Cell a -> Entry
entryOf = unsafeCoerce
{-# INLINE entryOf #-}

-- | The deques of a pool, one for each Capability up to a number.
--
-- Element 0 of the array is the entry that marks an empty slot; then come, for each Capability, its
-- state (a 'MutableByteArray#') and its ring (a 'MutableArray#'). @cmm\/task.cmm@ knows this layout.
data Deques = Deques (SmallArray# Any)

-- | How many workers of the pool look for work, and how many Capabilities idle with a worker asleep.
data Flags = Flags (MutableByteArray# RealWorld)

data State = State (MutableByteArray# RealWorld)

data Ring = Ring (MutableArray# RealWorld Any)

foreign import prim "cst_task_pushzh"
  push# ::
    SmallArray# Any ->
    MutableByteArray# RealWorld ->
    MutVar# RealWorld (Status Any) ->
    MutableByteArray# RealWorld ->
    Int# ->
    State# RealWorld ->
    (# State# RealWorld, Int# #)

foreign import prim "cst_task_popzh"
  pop# ::
    SmallArray# Any -> MutVar# RealWorld (Status Any) -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_publishzh"
  publish# :: SmallArray# Any -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_hungryzh"
  hungry# ::
    SmallArray# Any -> MutableByteArray# RealWorld -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_capabilityzh"
  capability# :: State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_identityzh"
  entryToAny# :: MutVar# RealWorld (Status Any) -> State# RealWorld -> (# State# RealWorld, Any #)

foreign import prim "cst_task_identityzh"
  anyToEntry# :: Any -> State# RealWorld -> (# State# RealWorld, MutVar# RealWorld (Status Any) #)

foreign import prim "cst_task_identityzh"
  stateToAny# :: MutableByteArray# RealWorld -> State# RealWorld -> (# State# RealWorld, Any #)

foreign import prim "cst_task_identityzh"
  anyToState# :: Any -> State# RealWorld -> (# State# RealWorld, MutableByteArray# RealWorld #)

foreign import prim "cst_task_identityzh"
  ringToAny# :: MutableArray# RealWorld Any -> State# RealWorld -> (# State# RealWorld, Any #)

foreign import prim "cst_task_identityzh"
  anyToRing# :: Any -> State# RealWorld -> (# State# RealWorld, MutableArray# RealWorld Any #)

-- | The slots of a ring: RING_MASK + 1 of @cmm\/task.cmm@.
ringSize :: Int
ringSize = 1024

-- The words of a state that Haskell reads or writes; each group has a cache line of its own.
sharedWord, bottomWord, idleWord, readyWord :: Int
sharedWord = 0
bottomWord = 8
idleWord = 16
readyWord = 17

-- | Deques for the Capabilities below a number.
newDeques :: Int -> IO Deques
newDeques count = do
  Entry (Cell var) <- Entry <$> newCell (Open Pending [])
  let !(I# size) = ringSize
      !(I# elements) = 1 + 2 * count
  IO $ \s -> case entryToAny# var s of
    (# s1, empty #) -> case newSmallArray# elements empty s1 of
      (# s2, array #) -> case fill array empty size of
        IO filled -> case filled s2 of
          (# s3, () #) -> case unsafeFreezeSmallArray# array s3 of
            (# s4, deques #) -> (# s4, Deques deques #)
  where
    fill array empty size = forM_ [0 .. count - 1] $ \i -> IO $ \s ->
      case newAlignedPinnedByteArray# 192# 64# s of
        (# s1, state #) -> case stateToAny# state (setByteArray# state 0# 192# 0# s1) of
          (# s2, state' #) -> case newArray# size empty s2 of
            (# s3, ring #) -> case ringToAny# ring s3 of
              (# s4, ring' #) -> (# set (2 + 2 * i) ring' (set (1 + 2 * i) state' s4), () #)
      where
        set (I# i) = writeSmallArray# array i

-- | The number of Capabilities that have a deque.
capacity :: Deques -> Int
capacity (Deques deques) = I# (sizeofSmallArray# deques -# 1#) `quot` 2

stateOf :: Deques -> Int -> IO State
stateOf (Deques deques) n = case 1 + 2 * n of
  I# i -> case indexSmallArray# deques i of
    (# x #) -> IO $ \s -> case anyToState# x s of (# s1, state #) -> (# s1, State state #)

ringOf :: Deques -> Int -> IO Ring
ringOf (Deques deques) n = case 2 + 2 * n of
  I# i -> case indexSmallArray# deques i of
    (# x #) -> IO $ \s -> case anyToRing# x s of (# s1, ring #) -> (# s1, Ring ring #)

readWord :: State -> Int -> IO Int
readWord (State state) (I# i) = IO $ \s -> case atomicReadIntArray# state i s of
  (# s1, x #) -> (# s1, I# x #)

writeWord :: State -> Int -> Int -> IO ()
writeWord (State state) (I# i) (I# x) = IO $ \s -> (# atomicWriteIntArray# state i x s, () #)

-- | Pushes an entry on the deque of the Capability that the caller is on, and counts it. The answer is 0
-- if nothing was pushed: the ring is full, the Capability has no deque, or its workers are not ready
-- ('setReady') and the caller has not promised, by the 'True', to wake one. Else it is 1, plus 2 if
-- another Capability idles with a worker asleep, plus 4 times the number of the Capability if the
-- promise was given; then all of the deque is public.
push :: Deques -> Flags -> Counters -> Entry -> Bool -> IO Int
push (Deques deques) (Flags flags) (Counters counters) (Entry (Cell entry)) wakes =
  IO $ \s -> case push# deques flags entry counters promise s of
    (# s1, answer #) -> (# s1, I# answer #)
  where
    !(I# promise) = fromEnum wakes
{-# INLINE push #-}

-- | Takes an entry back that is the newest of the Capability's deque. If the answer is 'True', no
-- worker has it or will have it.
pop :: Deques -> Entry -> IO Bool
pop (Deques deques) (Entry (Cell entry)) = IO $ \s -> case pop# deques entry s of
  (# s1, answer #) -> (# s1, isTrue# answer #)
{-# INLINE pop #-}

-- | Makes all entries of the Capability's deque public. The answer is their number.
publish :: Deques -> IO Int
publish (Deques deques) = IO $ \s -> case publish# deques s of
  (# s1, answer #) -> (# s1, I# answer #)

-- | Whether another Capability wants work and this one has nothing in its deque.
hungry :: Deques -> Flags -> IO Bool
hungry (Deques deques) (Flags flags) = IO $ \s -> case hungry# deques flags s of
  (# s1, answer #) -> (# s1, isTrue# answer #)
{-# INLINE hungry #-}

-- | The number of the Capability that the caller is on, this moment.
capability :: IO Int
capability = IO $ \s -> case capability# s of (# s1, n #) -> (# s1, I# n #)

-- | Takes the oldest public entry of a deque.
steal :: Deques -> Int -> IO (Maybe Entry)
steal deques@(Deques array) n = do
  state <- stateOf deques n
  word <- readWord state sharedWord
  let top = word .&. 0xffffffff
      split = word `unsafeShiftR` 32 .&. 0xffffffff
  if top == split
    then pure Nothing
    else do
      swapped <- swap state word (split * 0x100000000 .|. ((top + 1) .&. 0xffffffff))
      if swapped then Just <$> takeSlot (top .&. (ringSize - 1)) else steal deques n
  where
    -- Ours alone since the swap (D1), and read after it (D2).
    takeSlot (I# i) = do
      Ring ring <- ringOf deques n
      IO $ \s -> case readArray# ring i s of
        (# s1, x #) -> case indexSmallArray# array 0# of
          (# empty #) -> case anyToEntry# x (writeArray# ring i empty s1) of
            (# s2, entry #) -> (# s2, Entry (Cell entry) #)

swap :: State -> Int -> Int -> IO Bool
swap (State state) (I# old) (I# new) = IO $ \s -> case casIntArray# state 0# old new s of
  (# s1, seen #) -> (# s1, isTrue# (seen ==# old) #)

-- | Whether a deque has entries that can be stolen.
hasPublic :: Deques -> Int -> IO Bool
hasPublic deques n = do
  word <- stateOf deques n >>= (`readWord` sharedWord)
  pure (word .&. 0xffffffff /= word `unsafeShiftR` 32 .&. 0xffffffff)

-- | Whether a deque seems to have entries that its owner has not published. A hint: the owner goes on.
hasPrivate :: Deques -> Int -> IO Bool
hasPrivate deques n = do
  word <- stateOf deques n >>= (`readWord` sharedWord)
  bottom <- stateOf deques n >>= (`readWord` bottomWord)
  pure (bottom /= word `unsafeShiftR` 32 .&. 0xffffffff)

-- | Flags of a pool of which nobody searches or sleeps.
newFlags :: IO Flags
newFlags = IO $ \s -> case newAlignedPinnedByteArray# 192# 64# s of
  (# s1, flags #) -> (# setByteArray# flags 0# 192# 0# s1, Flags flags #)

-- | Changes the number of workers that look for work.
addSearching :: Flags -> Int -> IO ()
addSearching (Flags flags) (I# n) = IO $ \s -> case fetchAddIntArray# flags 0# n s of
  (# s1, _ #) -> (# s1, () #)

-- | Whether any does.
anySearching :: Flags -> IO Bool
anySearching (Flags flags) = (/= 0) <$> readWord (State flags) 0

-- | Says whether a Capability idles: all its workers look for work or sleep, and one sleeps.
-- Callers exclude each other for each Capability.
setIdle :: Deques -> Flags -> Int -> Bool -> IO ()
setIdle deques (Flags flags) n idle = do
  state <- stateOf deques n
  was <- readWord state idleWord
  let !(I# change) = fromEnum idle - was
  writeWord state idleWord (fromEnum idle)
  IO $ \s -> case fetchAddIntArray# flags 1# change s of
    (# s1, _ #) -> (# s1, () #)

-- | Says whether the workers of a Capability are ready: there are some, on it, and none sleeps.
setReady :: Deques -> Int -> Bool -> IO ()
setReady deques n ready = do
  state <- stateOf deques n
  writeWord state readyWord (fromEnum ready)
