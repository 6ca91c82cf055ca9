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
-- This module is internal: it may change without notice.
module Capstan.Event.Slots
  ( Slots,
    Slot,
    newSlots,
    takeSlot,
    readSlot,
    freeSlot,
  )
where

import Control.Concurrent.MVar (MVar, newMVar, withMVar)
import Control.Monad (when)
import Data.Bits (countLeadingZeros, finiteBitSize, shiftL)
import Data.IORef (IORef, atomicModifyIORef', newIORef, readIORef)
import Data.Maybe (listToMaybe)
import GHC.IOArray (IOArray, newIOArray, unsafeReadIOArray, unsafeWriteIOArray)

-- | Values by their slots.
data Slots a = Slots
  { slotsFree :: !(IORef [Slot]),
    slotsArrays :: !(IOArray Int (IOArray Int a)),
    -- | How many arrays there are.
    slotsGrown :: !(MVar (IORef Int)),
    -- | What a free slot holds.
    slotsNothing :: a
  }

-- | From 0.
type Slot = Int

-- | The first array has 2 to this many slots.
firstBits, mostArrays :: Int
firstBits = 10
mostArrays = 32

newSlots :: a -> IO (Slots a)
newSlots nothing =
  Slots <$> newIORef [] <*> newIOArray (0, mostArrays - 1) (error "Slots: no array") <*> (newIORef 0 >>= newMVar) <*> pure nothing

-- | The array of a slot, and the place in it.
place :: Slot -> (Int, Int)
place slot = (bit - firstBits, shifted - 1 `shiftL` bit)
  where
    shifted = slot + 1 `shiftL` firstBits
    bit = finiteBitSize shifted - 1 - countLeadingZeros shifted
{-# INLINE place #-}

-- | Keeps a value. Any thread.
takeSlot :: Slots a -> a -> IO Slot
takeSlot slots value = do
  found <- atomicModifyIORef' (slotsFree slots) (\free -> (drop 1 free, listToMaybe free))
  case found of
    Nothing -> grow slots >> takeSlot slots value
    Just slot -> writeSlot slots slot value >> pure slot

grow :: Slots a -> IO ()
grow slots = withMVar (slotsGrown slots) $ \counter -> do
  free <- readIORef (slotsFree slots)
  when (null free) $ do
    count <- readIORef counter
    let size = 1 `shiftL` (firstBits + count)
        first = size - 1 `shiftL` firstBits
    array <- newIOArray (0, size - 1) (slotsNothing slots)
    unsafeWriteIOArray (slotsArrays slots) count array
    atomicModifyIORef' counter (const (count + 1, ()))
    atomicModifyIORef' (slotsFree slots) (\more -> ([first .. first + size - 1] ++ more, ()))

writeSlot :: Slots a -> Slot -> a -> IO ()
writeSlot slots slot value = do
  let (array, offset) = place slot
  held <- unsafeReadIOArray (slotsArrays slots) array
  unsafeWriteIOArray held offset value

-- | The value of a slot that was taken and not freed.
readSlot :: Slots a -> Slot -> IO a
readSlot slots slot = do
  let (array, offset) = place slot
  held <- unsafeReadIOArray (slotsArrays slots) array
  unsafeReadIOArray held offset
{-# INLINE readSlot #-}

-- | Lets the value go. The slot may be taken again.
freeSlot :: Slots a -> Slot -> IO ()
freeSlot slots slot = do
  writeSlot slots slot (slotsNothing slots)
  atomicModifyIORef' (slotsFree slots) (\free -> (slot : free, ()))
