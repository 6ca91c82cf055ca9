{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}
-- One header defines the words, for this module and for cmm/task.cmm.
{-# OPTIONS_GHC -optP-imacros -optPhaskell/task_layout.h #-}

-- |
-- Module      : Capstan.Task.Work.Layout
-- Description : The memory layout of a pool's deques
--
-- The deques of a pool are one array (@runtime\/haskell\/task_layout.h@). It has the entry that
-- marks an empty slot, and for each Capability a state, which is words, and a ring, which is
-- pointers. "Capstan.Task.Work.Deque" describes the meaning of the words.
--
-- A Capability gets its ring at its first push. Before that it has the /stub/, a ring with one empty
-- slot, to which nothing is written. A major collection reads each ring, which takes 7 µs, and a
-- large machine has many Capabilities that push nothing.
module Capstan.Task.Work.Layout
  ( Deques (..),
    newDeques,
    clearDeques,
    capacity,
    ringSize,
    makeRing,
    emptyEntry,
    Words (..),
    stateOf,
    readWord,
    writeWord,
    addWord,
    swapWord,
    Ring (..),
    ringOf,
    anyToEntry#,
    Flags (..),
    newFlags,
    clearFlags,
  )
where

import Capstan.Task.Work.Cell (Cell (..), Phase (..), Status (..), newCell)
import Control.Monad (forM_, when)
import GHC.Exts
import GHC.IO (IO (..))

-- | The deques of a pool, one for each Capability up to a number.
data Deques = Deques (SmallMutableArray# RealWorld Any)

-- | Words that several threads change: a deque's state, or the flags of a pool.
data Words = Words (MutableByteArray# RealWorld)

-- | The slots of a deque.
data Ring = Ring (MutableArray# RealWorld Any)

-- | Three counts of a pool: the workers that look for work, the Capabilities that idle with their
-- scout asleep, and the workers that have a task, running or blocked.
newtype Flags = Flags Words

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

-- | The number of slots of a ring.
ringSize :: Int
ringSize = RING_SLOTS

-- | Makes deques for the Capabilities below a number.
newDeques :: Int -> IO Deques
newDeques count = do
  Cell var <- newCell (Open Pending []) :: IO (Cell Any)
  let !(I# elements) = DEQUES_STRIDE * count + 1
      !(I# emptyAt) = DEQUES_EMPTY
  deques <- IO $ \s -> case entryToAny# var s of
    (# s1, empty #) -> case newArray# 2# empty s1 of
      (# s2, ring #) -> case ringToAny# ring s2 of
        (# s3, stub #) -> case newSmallArray# elements stub s3 of
          (# s4, array #) -> (# writeSmallArray# array emptyAt empty s4, Deques array #)
  deques <$ forM_ [0 .. count - 1] (addState deques)
  where
    addState (Deques array) n = do
      state@(Words bytes) <- newWords STATE_WORDS
      clearState state
      let !(I# stateAt) = DEQUES_STRIDE * n + DEQUES_STATE
      IO $ \s -> case stateToAny# bytes s of
        (# s1, stateAny #) -> (# writeSmallArray# array stateAt stateAny s1, () #)

-- | Gives a Capability its ring, if it has none. Several threads may do so at a time.
makeRing :: Deques -> Int -> IO ()
makeRing deques@(Deques array) n = when (n < capacity deques) $ do
  Ring now <- ringOf deques n
  let !(I# at) = DEQUES_STRIDE * n + DEQUES_RING
      !(I# size) = RING_POINTERS
  when (isTrue# (sizeofMutableArray# now <# size)) . IO $ \s -> case emptyEntry deques of
    (# empty #) -> case newArray# size empty s of
      (# s1, ring #) -> case ringToAny# ring s1 of
        (# s2, ringAny #) -> case ringToAny# now s2 of
          (# s3, stub #) -> case casSmallArray# array at stub ringAny s3 of
            (# s4, _, _ #) -> (# s4, () #)

-- | Resets a deque's state: no entries, no remembered thread, and no scout. The indices begin at 1,
-- so that a pop from a stub looks at its slot.
clearState :: Words -> IO ()
clearState state = do
  clearWords STATE_WORDS state
  writeWord state STATE_SHARED 0x100000001
  writeWord state STATE_BOTTOM 1
  writeWord state STATE_SCOUT SCOUT_ABSENT

-- | Forgets all entries and scouts. No thread may use the deques meanwhile.
clearDeques :: Deques -> IO ()
clearDeques deques = forM_ [0 .. capacity deques - 1] $ \n -> do
  stateOf deques n >>= clearState
  Ring ring <- ringOf deques n
  forM_ [0 .. I# (sizeofMutableArray# ring) - 1] $ \(I# i) -> IO $ \s -> case emptyEntry deques of
    (# empty #) -> (# writeArray# ring i empty s, () #)

-- | The entry in an empty slot.
emptyEntry :: Deques -> (# Any #)
emptyEntry deques = case DEQUES_EMPTY of I# i -> indexSmallArray# (constant# deques) i
{-# INLINE emptyEntry #-}

-- | The number of Capabilities that have a deque.
capacity :: Deques -> Int
capacity deques = I# (sizeofSmallArray# (constant# deques) -# 1#) `quot` DEQUES_STRIDE

-- Only the rings change, which are not read in this way.
constant# :: Deques -> SmallArray# Any
constant# (Deques deques) = unsafeCoerce# deques

-- | The state of the deque with a number.
stateOf :: Deques -> Int -> IO Words
stateOf (Deques deques) n = case DEQUES_STRIDE * n + DEQUES_STATE of
  I# i -> IO $ \s -> case readSmallArray# deques i s of
    (# s1, x #) -> case anyToState# x s1 of (# s2, state #) -> (# s2, Words state #)

-- | The ring of the deque with a number.
ringOf :: Deques -> Int -> IO Ring
ringOf (Deques deques) n = case DEQUES_STRIDE * n + DEQUES_RING of
  I# i -> IO $ \s -> case readSmallArray# deques i s of
    (# s1, x #) -> case anyToRing# x s1 of (# s2, ring #) -> (# s2, Ring ring #)

-- | Words at the start of a cache line. The array is large enough for GHC to keep it in blocks of
-- its own. A small pinned array would lie in the block that GHC is filling, which counts as new. So
-- each minor collection would visit all old objects that refer to the array, for example the stack
-- of each blocked worker.
newWords :: Int -> IO Words
newWords count = IO $ \s -> case newAlignedPinnedByteArray# bytes 64# s of
  (# s1, array #) -> (# s1, Words array #)
  where
    !(I# bytes) = max 4096 (8 * count)

clearWords :: Int -> Words -> IO ()
clearWords count (Words array) = IO $ \s -> (# setByteArray# array 0# bytes 0# s, () #)
  where
    !(I# bytes) = 8 * count

-- | Reads a word. This operation and the operations below are sequentially consistent.
readWord :: Words -> Int -> IO Int
readWord (Words array) (I# i) = IO $ \s -> case atomicReadIntArray# array i s of
  (# s1, x #) -> (# s1, I# x #)
{-# INLINE readWord #-}

-- | Writes a word.
writeWord :: Words -> Int -> Int -> IO ()
writeWord (Words array) (I# i) (I# x) = IO $ \s -> (# atomicWriteIntArray# array i x s, () #)
{-# INLINE writeWord #-}

-- | Adds to a word.
addWord :: Words -> Int -> Int -> IO ()
addWord (Words array) (I# i) (I# n) = IO $ \s -> case fetchAddIntArray# array i n s of
  (# s1, _ #) -> (# s1, () #)
{-# INLINE addWord #-}

-- | Writes the new value if the word has the old value. Returns whether it did.
swapWord :: Words -> Int -> Int -> Int -> IO Bool
swapWord (Words array) (I# i) (I# old) (I# new) = IO $ \s -> case casIntArray# array i old new s of
  (# s1, seen #) -> (# s1, isTrue# (seen ==# old) #)
{-# INLINE swapWord #-}

-- | The flags of a pool without searching workers and idle Capabilities.
newFlags :: IO Flags
newFlags = do
  flags <- Flags <$> newWords FLAGS_WORDS
  flags <$ clearFlags flags

-- | Resets the flags.
clearFlags :: Flags -> IO ()
clearFlags (Flags flags) = clearWords FLAGS_WORDS flags
