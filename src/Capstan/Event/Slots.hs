-- |
-- Module      : Capstan.Event.Slots
-- Description : Numbers for values that C keeps
--
-- Stable pointers would also do. But each stable pointer is a root that every minor collection
-- visits, and their table has one lock for the whole process. With a million timers every
-- collection would take milliseconds. Slots lie in arrays, and a collection visits only those parts
-- of an array that have changed since the last collection.
--
-- An array is never moved or copied: the table grows by another array, which is twice as long. So
-- values can be written and read while the table grows.
--
-- Free slots are a stack (Treiber, 1986): its head names the first slot, and each slot names the
-- slot below it. The head also counts its changes. A thread that takes a slot (1) reads the head,
-- (2) reads the name of the second slot, (3) replaces the head if it is still the same. Between
-- steps 1 and 3 other threads may have taken the first slot and given it back, above a different
-- slot. Then the head has another count, and step 3 fails. The count has 32 bits: it would have to
-- wrap round between two steps of one thread. The name of the slot below is written before a slot
-- enters the stack, and a change of the head is a full barrier.
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
  { -- | The lower 'slotBits' hold the number of the first free slot plus 1, or 0 for none. The bits
    -- above count the changes.
    slotsHead :: !Words,
    slotsArrays :: !(IOArray Int (Array a)),
    -- | The number of arrays.
    slotsGrown :: !(MVar (IORef Int)),
    -- | The value in a free slot.
    slotsNothing :: a
  }

-- | The values, and for each free slot the number of the free slot below it plus 1, or 0 for none.
data Array a = Array !(IOArray Int a) !Words

-- | The number of a slot, from 0.
type Slot = Int

-- | The first array has 2 to the power of @firstBits@ slots.
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

-- | The number of a slot's array, and the slot's place in that array.
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

-- | Takes a slot for a value. Any thread may call this.
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

-- | The head after a given head: it names another first slot and has the next count.
headWith :: Int -> Int -> Int
headWith top first = (top `shiftR` slotBits + 1) `shiftL` slotBits + first
{-# INLINE headWith #-}

-- | Puts free slots on top of the stack. Each slot from the first to the last already names the
-- next slot below it.
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

-- | Drops the value of a slot. The slot may be taken again.
freeSlot :: Slots a -> Slot -> IO ()
freeSlot slots slot = do
  (Array values _, offset) <- arrayOf slots slot
  unsafeWriteIOArray values offset (slotsNothing slots)
  push slots slot slot
