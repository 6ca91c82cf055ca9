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
-- Thieves take the entry at @top@. The owner, which is the Capability, pushes and pops at @bottom@.
-- Only the owner uses the private part, so pushes and pops there need neither an atomic operation
-- nor a fence. The split deque was introduced by Dinan and others (2009); Lace (van Dijk and van de
-- Pol, 2014) uses it for fork and join. The owner moves @split@ up when a worker is hungry or the
-- public part is empty. It moves @split@ down when it has popped its private part empty.
--
-- == Why it is right
--
-- @top@ and @split@ share a word that changes only by compare-and-swap. Only the owner writes
-- @bottom@.
--
-- (D1) A thief that swaps @top@ from @t@ to @t + 1@ while @t < split@ owns slot @t@ alone. No
-- second thief can swap from @t@, and the owner pops an index only if it is not below @split@. To
-- lower @split@, the owner swaps the same word, so one of the two swaps fails.
--
-- (D2) The thief reads slot @t@ /after/ its swap. So it cannot hold an entry from an earlier use of
-- the index, however the word changed between the thief's read and its swap. At the moment of the
-- swap @t@ is public, and (D1) keeps the slot unchanged from then on.
--
-- (D3) The owner writes the slot before it publishes the index (@release_fence@, and the swap
-- itself). The thief's swap acquires, so the thief sees the entry and all data to which the entry
-- refers.
--
-- (D4) A thief clears its slot after it has read it, and the owner pushes only into a cleared slot.
-- So a ring that comes round never overwrites an entry that a slow thief has not read yet: the ring
-- counts as full. The entry is cleared last, after both reads and after the context's clearing. GHC
-- puts a barrier before each write of an array element: nothing on x86-64, at least a release fence
-- on AArch64. The owner's writes depend on its look at the entry, so no processor does them before.
--
-- (D5) If 'Control.Concurrent.setNumCapabilities' has taken a Capability out of use, no thread pops
-- from its deque, and other Capabilities publish its entries. Such a change happens while no
-- Capability runs, so never during one of these operations.
--
-- (D6) Between two heap checks, one Haskell thread runs on a Capability. The owner's operations are
-- C-- code without heap checks, so the operations of two threads of one Capability never
-- interleave.
--
-- (D7) A Capability gets its ring at its first push, by a swap in the array of deques. The owner
-- publishes an index only afterwards, and a thief looks for the ring after its swap of that index.
-- So by (D3) the thief finds the ring and not the stub.
--
-- Indices count modulo 2^32, which is far above the ring's size. The claim of a task decides which
-- thread runs it ("Capstan.Task.Work.Cell"). So it is harmless if threads find an entry twice or
-- late.
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

import Capstan.Capability (capabilityNumber)
import Capstan.Task.Work.Cell (Cell (..), Status)
import Capstan.Task.Work.Counters (Counters (..))
import Capstan.Task.Work.Group (Context, Place (..), contextAt, placeHere)
import Capstan.Task.Work.Layout
import Data.Bits (unsafeShiftR, (.&.), (.|.))
import GHC.Exts
import GHC.IO (IO (..))
import Unsafe.Coerce (unsafeCoerce)

-- | An entry of a deque: the cell of a task, and the context of the thread that pushed it.
data Entry = Entry !(Cell Any) !Context

-- | The entry of a task.
entryOf :: Cell a -> Context -> Entry
entryOf cell = Entry (unsafeCoerce cell)

foreign import prim "cst_task_pushzh"
  push# ::
    SmallMutableArray# RealWorld Any ->
    MutableByteArray# RealWorld ->
    MutVar# RealWorld (Status a) ->
    MutableByteArray# RealWorld ->
    Any ->
    Int# ->
    State# RealWorld ->
    (# State# RealWorld, Int# #)

foreign import prim "cst_task_popzh"
  pop# ::
    SmallMutableArray# RealWorld Any -> MutVar# RealWorld (Status a) -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_publishzh"
  publish# :: SmallMutableArray# RealWorld Any -> Int# -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_rememberzh"
  remember# ::
    SmallMutableArray# RealWorld Any -> MutVar# RealWorld Context -> State# RealWorld -> (# State# RealWorld, Int# #)

foreign import prim "cst_task_contextzh"
  context# :: SmallMutableArray# RealWorld Any -> State# RealWorld -> (# State# RealWorld, Int#, Any #)

foreign import prim "cst_task_hungryzh"
  hungry# ::
    SmallMutableArray# RealWorld Any -> MutableByteArray# RealWorld -> State# RealWorld -> (# State# RealWorld, Int# #)

-- | Pushes a task on the deque of the caller's Capability, in the context of the caller, and counts
-- it. Returns 0 if nothing was pushed: the ring is full, the Capability has no deque, its scout is
-- not awake there, or it does not know the caller's place ('remember'). Otherwise returns 1, plus 2
-- if another Capability idles with its scout asleep.
push :: Deques -> Flags -> Counters -> Cell a -> IO Int
push (Deques deques) (Flags (Words flags)) (Counters counters) (Cell cell) =
  IO $ \s -> case push# deques flags cell counters (unsafeCoerce ()) 0# s of
    (# s1, answer #) -> (# s1, I# answer #)
{-# INLINE push #-}

-- | As 'push', in the context of the entry, even if the scout sleeps. The caller has promised to
-- wake the scout of the Capability afterwards, whose number is a quarter of the answer. The push
-- makes the whole deque public. Returns 0 if the ring is full, or if the Capability has none.
pushSurely :: Deques -> Flags -> Counters -> Entry -> IO Int
pushSurely known@(Deques deques) (Flags (Words flags)) (Counters counters) (Entry (Cell cell) !context) = do
  capabilityNumber >>= makeRing known
  IO $ \s -> case push# deques flags cell counters (unsafeCoerce context) 1# s of
    (# s1, answer #) -> (# s1, I# answer #)

-- | Remembers on this Capability the place of the calling thread, which holds its context.
remember :: Deques -> Place -> IO ()
remember known@(Deques deques) (Place place _) = do
  capabilityNumber >>= makeRing known
  IO $ \s -> case remember# deques place s of
    (# s1, _ #) -> (# s1, () #)

-- | The context of the calling thread.
contextHere :: Deques -> IO Context
contextHere (Deques deques) = IO $ \s -> case context# deques s of
  (# s1, 0#, _ #) -> case placeHere >>= contextAt of IO look -> look s1
  (# s1, _, context #) -> (# s1, unsafeCoerce context #)

-- | Pops a task if it is the newest entry of the Capability's deque. If the answer is 'True', no
-- worker has the task or will get it.
pop :: Deques -> Cell a -> IO Bool
pop (Deques deques) (Cell cell) = IO $ \s -> case pop# deques cell s of
  (# s1, answer #) -> (# s1, isTrue# answer #)
{-# INLINE pop #-}

-- | Makes all entries of the Capability's deque public, and returns their number.
publish :: Deques -> IO Int
publish deques = capabilityNumber >>= publishOf deques

-- | As 'publish', for a Capability that is not in use, or on which the caller was a moment ago.
-- Returns 0 for other Capabilities.
publishOf :: Deques -> Int -> IO Int
publishOf (Deques deques) (I# n) = IO $ \s -> case publish# deques n s of
  (# s1, answer #) -> (# s1, I# answer #)

-- | Whether another Capability wants work while this Capability's deque is empty.
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
    -- The slot belongs to this thief since the swap (D1), and is read after it (D2). The owner
    -- recognises an empty slot by its entry (D4).
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

-- | Whether a deque seems to have entries that its owner has not published. This is a hint, as the
-- owner continues to change its deque.
hasPrivate :: Deques -> Int -> IO Bool
hasPrivate deques n = do
  word <- stateOf deques n >>= (`readWord` STATE_SHARED)
  bottom <- stateOf deques n >>= (`readWord` STATE_BOTTOM)
  pure (bottom /= word `unsafeShiftR` 32 .&. 0xffffffff)
