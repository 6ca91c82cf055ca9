{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}
{-# OPTIONS_GHC -optP-imacros -optPhaskell/task_layout.h #-}

-- |
-- Module      : Capstan.Task.Work.Deque
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
-- (D5) The owner of a Capability that 'Control.Concurrent.setNumCapabilities' has taken out of use pops nothing,
-- and then others publish its entries. Whether one is in use changes while no Capability runs, so not amid
-- one of these operations.
--
-- (D6) Between two heap checks, one Haskell thread runs on a Capability. The owner's operations are C--
-- without heap checks, so two threads of one Capability never mix theirs.
--
-- Indices count modulo 2^32, which is far above the ring's size. An entry is a task whose claim
-- ("Capstan.Task.Work.Cell") decides who runs the task, so an entry that is met twice or late is harmless.
module Capstan.Task.Work.Deque
  ( Entry (..),
    entryOf,
    Deques,
    newDeques,
    clearDeques,
    capacity,
    ringSize,
    Flags,
    newFlags,
    clearFlags,
    remember,
    contextHere,
    push,
    pushSurely,
    pop,
    publish,
    publishOf,
    hungry,
    steal,
    hasPublic,
    hasPrivate,
  )
where

import Capstan.Prim (capabilityNumber)
import Capstan.Task.Work.Cell (Cell (..), Status)
import Capstan.Task.Work.Counters (Counters (..))
import Capstan.Task.Work.Group (Context, Place (..), contextAt, placeHere)
import Capstan.Task.Work.Layout
import Data.Bits (unsafeShiftR, (.&.), (.|.))
import GHC.Exts
import GHC.IO (IO (..))
import Unsafe.Coerce (unsafeCoerce)

-- | What lies in a deque: the cell of a task, and the context of who pushed it.
data Entry = Entry !(Cell Any) !Context

-- | A task, for a deque.
entryOf :: Cell a -> Context -> Entry
entryOf cell = Entry (unsafeCoerce cell)

foreign import prim "cst_task_pushzh"
  push# ::
    SmallArray# Any ->
    MutableByteArray# RealWorld ->
    MutVar# RealWorld (Status a) ->
    MutableByteArray# RealWorld ->
    Any ->
    Int# ->
    State# RealWorld ->
    (# State# RealWorld, Int# #)

foreign import prim "cst_task_popzh"
  pop# ::
    SmallArray# Any -> MutVar# RealWorld (Status a) -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_publishzh"
  publish# :: SmallArray# Any -> Int# -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_rememberzh"
  remember# ::
    SmallArray# Any -> MutVar# RealWorld Context -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_contextzh"
  context# :: SmallArray# Any -> State# RealWorld -> (# State# RealWorld, Int#, Any #)

foreign import prim "cst_task_hungryzh"
  hungry# ::
    SmallArray# Any -> MutableByteArray# RealWorld -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Pushes a task on the deque of the Capability that the caller is on, in the context of the caller, and counts
-- it. The answer is 0 if nothing was pushed: the ring is full, the Capability has no deque, its scout is not
-- awake there, or it does not know the caller's place ('remember'). Else it is 1, plus 2 if another Capability
-- idles with its scout asleep.
push :: Deques -> Flags -> Counters -> Cell a -> IO Int
push (Deques deques) (Flags (Words flags)) (Counters counters) (Cell cell) =
  IO $ \s -> case push# deques flags cell counters (unsafeCoerce ()) 0# s of
    (# s1, answer #) -> (# s1, I# answer #)
{-# INLINE push #-}

-- | As 'push', in the context of the entry, for who has promised to wake the scout of the Capability then, which
-- is what a quarter of the answer is. All of the deque is public then. The answer is 0 if the ring is full or
-- there is none.
pushSurely :: Deques -> Flags -> Counters -> Entry -> IO Int
pushSurely (Deques deques) (Flags (Words flags)) (Counters counters) (Entry (Cell cell) !context) =
  IO $ \s -> case push# deques flags cell counters (unsafeCoerce context) 1# s of
    (# s1, answer #) -> (# s1, I# answer #)

-- | Remembers on this Capability where the calling thread keeps its context.
remember :: Deques -> Place -> IO ()
remember (Deques deques) (Place place _) = IO $ \s -> case remember# deques place s of
  (# s1, _ #) -> (# s1, () #)

-- | The context of the calling thread.
contextHere :: Deques -> IO Context
contextHere (Deques deques) = IO $ \s -> case context# deques s of
  (# s1, 0#, _ #) -> case placeHere >>= contextAt of IO look -> look s1
  (# s1, _, context #) -> (# s1, unsafeCoerce context #)

-- | Takes a task back that is the newest of the Capability's deque. If the answer is 'True', no
-- worker has it or will have it.
pop :: Deques -> Cell a -> IO Bool
pop (Deques deques) (Cell cell) = IO $ \s -> case pop# deques cell s of
  (# s1, answer #) -> (# s1, isTrue# answer #)
{-# INLINE pop #-}

-- | Makes all entries of the Capability's deque public. The answer is their number.
publish :: Deques -> IO Int
publish deques = capabilityNumber >>= publishOf deques

-- | As 'publish', of a Capability that is not in use, or where the caller was a moment ago. The answer is 0 for
-- others.
publishOf :: Deques -> Int -> IO Int
publishOf (Deques deques) (I# n) = IO $ \s -> case publish# deques n s of
  (# s1, answer #) -> (# s1, I# answer #)

-- | Whether another Capability wants work and this one has nothing in its deque.
hungry :: Deques -> Flags -> IO Bool
hungry (Deques deques) (Flags (Words flags)) = IO $ \s -> case hungry# deques flags s of
  (# s1, answer #) -> (# s1, isTrue# answer #)
{-# INLINE hungry #-}

-- | Takes the oldest public entry of a deque.
steal :: Deques -> Int -> IO (Maybe Entry)
steal deques n = do
  state <- stateOf deques n
  word <- readWord state STATE_SHARED
  let top = word .&. 0xffffffff
      split = word `unsafeShiftR` 32 .&. 0xffffffff
  if top == split
    then pure Nothing
    else do
      swapped <- swapWord state STATE_SHARED word (split * 0x100000000 .|. ((top + 1) .&. 0xffffffff))
      if swapped then Just <$> takeSlot (top .&. (ringSize - 1)) else steal deques n
  where
    -- Ours alone since the swap (D1), and read after it (D2). The owner sees an empty slot by its entry (D4).
    takeSlot slot = do
      Ring ring <- ringOf deques n
      let !(I# i) = 2 * slot
      IO $ \s -> case readArray# ring i s of
        (# s1, x #) -> case readArray# ring (i +# 1#) s1 of
          (# s2, context #) -> case emptyEntry deques of
            (# empty #) -> case writeArray# ring i empty (writeArray# ring (i +# 1#) empty s2) of
              s3 -> case anyToEntry# x s3 of
                (# s4, entry #) -> (# s4, Entry (Cell entry) (unsafeCoerce context) #)

-- | Whether a deque has entries that can be stolen.
hasPublic :: Deques -> Int -> IO Bool
hasPublic deques n = do
  word <- stateOf deques n >>= (`readWord` STATE_SHARED)
  pure (word .&. 0xffffffff /= word `unsafeShiftR` 32 .&. 0xffffffff)

-- | Whether a deque seems to have entries that its owner has not published. A hint: the owner goes on.
hasPrivate :: Deques -> Int -> IO Bool
hasPrivate deques n = do
  word <- stateOf deques n >>= (`readWord` STATE_SHARED)
  bottom <- stateOf deques n >>= (`readWord` STATE_BOTTOM)
  pure (bottom /= word `unsafeShiftR` 32 .&. 0xffffffff)
