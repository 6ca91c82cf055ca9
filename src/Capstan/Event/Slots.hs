-- |
-- Module      : Capstan.Event.Slots
-- Description : Numbers for values that C keeps
--
-- A stable pointer would do, but each is a root that every minor collection visits, and the table of
-- them has one lock for the whole process. A million timers would cost every collection
-- milliseconds. Slots lie in arrays of which a collection visits what has changed since the last.
--
-- An array is never moved or copied: the table grows by another, twice as long. So values can be
-- written and read while it grows.
--
-- Free slots are a stack (Treiber, 1986): its head names the first, and each names the one below it. The
-- head also counts the changes. Who takes a slot (1) reads the head, (2) reads what is below the first,
-- (3) replaces the head, if it is still the same. Between 1 and 3 others may have taken that slot and
-- given it back, so that something else is below it: then the head has another count, and step 3 fails.
-- The count has 32 bits; it would have to come round between two steps of one thread. What lies below
-- a slot is written before the slot gets into the stack, and changing the head is a full barrier.
module Capstan.Event.Slots
  ( Slots,
    Slot,
    newSlots,
    takeSlot,
    readSlot,
    freeSlot,
  )
where

import Capstan.Event.Words
import Control.Concurrent.MVar (MVar, newMVar, withMVar)
import Control.Monad (forM_, unless, when)
import Data.Bits (countLeadingZeros, finiteBitSize, shiftL, shiftR, (.&.))
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
import GHC.IOArray (IOArray, newIOArray, unsafeReadIOArray, unsafeWriteIOArray)

-- | Values by their slots.
data Slots a = Slots
  { -- | The first free slot and 1, or 0; above 'slotBits', the number of changes.
    slotsHead :: !Words,
    slotsArrays :: !(IOArray Int (Array a)),
    -- | How many arrays there are.
    slotsGrown :: !(MVar (IORef Int)),
    -- | What a free slot holds.
    slotsNothing :: a
  }

-- | Values, and for each free slot the next free one and 1, or 0.
data Array a = Array !(IOArray Int a) !Words

-- | From 0.
type Slot = Int

-- | The first array has 2 to this many slots.
firstBits, mostArrays, slotBits :: Int
firstBits = 10
mostArrays = 32 - firstBits
slotBits = 32

newSlots :: a -> IO (Slots a)
newSlots nothing = do
  top <- newWords 1 0
  arrays <- newIOArray (0, mostArrays - 1) (error "Slots: no array")
  grown <- newIORef 0 >>= newMVar
  pure (Slots top arrays grown nothing)

-- | The array of a slot, and the place in it.
place :: Slot -> (Int, Int)
place slot = (bit - firstBits, shifted - 1 `shiftL` bit)
  where
    shifted = slot + 1 `shiftL` firstBits
    bit = finiteBitSize shifted - 1 - countLeadingZeros shifted
{-# INLINE place #-}

arrayOf :: Slots a -> Slot -> IO (Array a, Int)
arrayOf slots slot = do
  let (array, offset) = place slot
  held <- unsafeReadIOArray (slotsArrays slots) array
  pure (held, offset)
{-# INLINE arrayOf #-}

-- | Keeps a value. Any thread.
takeSlot :: Slots a -> a -> IO Slot
takeSlot slots value = do
  top <- readWord (slotsHead slots) 0
  let slot = top .&. (1 `shiftL` slotBits - 1) - 1
  if slot < 0
    then grow slots >> takeSlot slots value
    else do
      (Array values below, offset) <- arrayOf slots slot
      next <- readWord below offset
      taken <- casWord (slotsHead slots) 0 top (headWith top next)
      if taken
        then slot <$ unsafeWriteIOArray values offset value
        else takeSlot slots value

-- | The head that comes after another.
headWith :: Int -> Int -> Int
headWith top first = (top `shiftR` slotBits + 1) `shiftL` slotBits + first
{-# INLINE headWith #-}

-- | Puts free slots on top of the stack: from the first to the last each has the next below it.
push :: Slots a -> Slot -> Slot -> IO ()
push slots first final = do
  (Array _ below, offset) <- arrayOf slots final
  let go = do
        top <- readWord (slotsHead slots) 0
        writeWord below offset (top .&. (1 `shiftL` slotBits - 1))
        done <- casWord (slotsHead slots) 0 top (headWith top (first + 1))
        unless done go
  go

grow :: Slots a -> IO ()
grow slots = withMVar (slotsGrown slots) $ \counter -> do
  top <- readWord (slotsHead slots) 0
  when (top .&. (1 `shiftL` slotBits - 1) == 0) $ do
    count <- readIORef counter
    let size = 1 `shiftL` (firstBits + count)
        first = size - 1 `shiftL` firstBits
    values <- newIOArray (0, size - 1) (slotsNothing slots)
    below <- newWords size 0
    forM_ [0 .. size - 2] $ \i -> writeWord below i (first + i + 2)
    unsafeWriteIOArray (slotsArrays slots) count (Array values below)
    atomicModifyIORef' counter (const (count + 1, ()))
    push slots first (first + size - 1)

-- | The value of a slot that was taken and not freed.
readSlot :: Slots a -> Slot -> IO a
readSlot slots slot = do
  (Array values _, offset) <- arrayOf slots slot
  unsafeReadIOArray values offset
{-# INLINE readSlot #-}

-- | Lets the value go. The slot may be taken again.
freeSlot :: Slots a -> Slot -> IO ()
freeSlot slots slot = do
  (Array values _, offset) <- arrayOf slots slot
  unsafeWriteIOArray values offset (slotsNothing slots)
  push slots slot slot
