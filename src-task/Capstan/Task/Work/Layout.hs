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
module Capstan.Task.Work.Layout
  ( Deques (..),
    newDeques,
    clearDeques,
    capacity,
    ringSize,
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
import Control.Monad (forM_)
import GHC.Exts
import GHC.IO (IO (..))

-- | The deques of a pool, one for each Capability up to a number.
data Deques = Deques (SmallArray# Any)

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
  IO $ \s -> case entryToAny# var s of
    (# s1, empty #) -> case newSmallArray# elements empty s1 of
      (# s2, array #) -> case fill array empty of
        IO filled -> case filled s2 of
          (# s3, () #) -> case unsafeFreezeSmallArray# array s3 of
            (# s4, deques #) -> (# s4, Deques deques #)
  where
    fill array empty = forM_ [0 .. count - 1] $ \n -> do
      state@(Words bytes) <- newWords STATE_WORDS
      clearState state
      let !(I# stateAt) = DEQUES_STRIDE * n + DEQUES_STATE
          !(I# ringAt) = DEQUES_STRIDE * n + DEQUES_RING
          !(I# size) = RING_POINTERS
      IO $ \s -> case stateToAny# bytes s of
        (# s1, stateAny #) -> case newArray# size empty s1 of
          (# s2, ring #) -> case ringToAny# ring s2 of
            (# s3, ringAny #) ->
              (# writeSmallArray# array ringAt ringAny (writeSmallArray# array stateAt stateAny s3), () #)

-- | Resets a deque's state: no entries, no remembered thread, and no scout.
clearState :: Words -> IO ()
clearState state = clearWords STATE_WORDS state >> writeWord state STATE_SCOUT SCOUT_ABSENT

-- | Forgets all entries and scouts. No thread may use the deques meanwhile.
clearDeques :: Deques -> IO ()
clearDeques deques = forM_ [0 .. capacity deques - 1] $ \n -> do
  stateOf deques n >>= clearState
  Ring ring <- ringOf deques n
  forM_ [0 .. RING_POINTERS - 1] $ \(I# i) -> IO $ \s -> case emptyEntry deques of
    (# empty #) -> (# writeArray# ring i empty s, () #)

-- | The entry in an empty slot.
emptyEntry :: Deques -> (# Any #)
emptyEntry (Deques deques) = case DEQUES_EMPTY of I# i -> indexSmallArray# deques i
{-# INLINE emptyEntry #-}

-- | The number of Capabilities that have a deque.
capacity :: Deques -> Int
capacity (Deques deques) = I# (sizeofSmallArray# deques -# 1#) `quot` DEQUES_STRIDE

-- | The state of the deque with a number.
stateOf :: Deques -> Int -> IO Words
stateOf (Deques deques) n = case DEQUES_STRIDE * n + DEQUES_STATE of
  I# i -> case indexSmallArray# deques i of
    (# x #) -> IO $ \s -> case anyToState# x s of (# s1, state #) -> (# s1, Words state #)

-- | The ring of the deque with a number.
ringOf :: Deques -> Int -> IO Ring
ringOf (Deques deques) n = case DEQUES_STRIDE * n + DEQUES_RING of
  I# i -> case indexSmallArray# deques i of
    (# x #) -> IO $ \s -> case anyToRing# x s of (# s1, ring #) -> (# s1, Ring ring #)

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
