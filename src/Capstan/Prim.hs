{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}
-- The bytecode interpreter knows neither primitives in Cmm nor, before GHC 9.2, unboxed tuples.
{-# OPTIONS_GHC -fobject-code #-}
-- The header's macros alone, for newer ones have comments of C, which the preprocessor leaves. No
-- warnings, for GHC's own stub in C includes headers that define some of them again.
{-# OPTIONS_GHC -optP-imacros -optPDerivedConstants.h -optP-w #-}

-- |
-- Module      : Capstan.Prim
-- Description : Which Capability, which OpenMP thread: for a nanosecond
-- Stability   : experimental
--
-- Questions that are cheap enough for an inner loop.
--
-- > bump :: IOUArray Int Int -> IO ()
-- > bump counters = do
-- >   mine <- capabilityNumber
-- >   readArray counters mine >>= writeArray counters mine . (+ 1)
--
-- The OpenMP answers are those of the OS thread that runs the asking code. They matter in Haskell
-- code that a region calls back; elsewhere a thread is number 0 of a team of 1.
--
-- GHC may move a thread to another Capability whenever it allocates, unless it was made with
-- 'Control.Concurrent.forkOn', and to another OS thread unless it is bound
-- ('Control.Concurrent.forkOS', @main@, callbacks). What was answered is then history: use it as a
-- hint, as the example does. 'place' at least answers all for one moment.
--
-- No call blocks, allocates, fails or makes anything: an OS thread that OpenMP does not know yet
-- stays unknown. All may be used from any thread, and without the threaded RTS.
--
-- @since 0.1.0
module Capstan.Prim
  ( capabilityNumber,
    threadNumber,
    teamSize,
    inParallel,

    -- * All at once
    Place (..),
    place,
  )
where

import Data.Bits (unsafeShiftR, (.&.))
import Data.Word (Word32, Word64)
import Foreign.Storable (peekByteOff)
import GHC.Exts
import GHC.IO (IO (IO))

-- | The number of the Capability that the calling thread runs on, from 0. The threads of one
-- Capability take turns, and only they see its number: the index of a table for each Capability.
--
-- Cost: two loads, in line.
capabilityNumber :: IO Int
capabilityNumber = do
  capability <- currentCapability
  number <- peekByteOff capability OFFSET_Capability_no
  pure (fromIntegral (number :: Word32))
{-# INLINE capabilityNumber #-}

-- | GHC's record of the Capability. A thread's object says where it is; to read that in line, the
-- object is taken for a byte array. The contents of one begin a word after its header. No collection
-- can come in between.
currentCapability :: IO (Ptr ())
currentCapability = IO $ \s0 -> case myThreadId# s0 of
  (# s1, thread #) -> case readWord8ArrayAsAddr# (bytes thread) offset s1 of
    (# s2, capability #) -> (# s2, Ptr capability #)
  where
    bytes :: ThreadId# -> MutableByteArray# RealWorld
    bytes = unsafeCoerce#
    !(I# offset) = OFFSET_StgTSO_cap - 8
{-# INLINE currentCapability #-}

foreign import ccall unsafe "cst_prim_region"
  region :: IO Word64

-- | The number of the calling thread in its team, as @omp_get_thread_num@ has it: 0 outside of
-- regions.
--
-- Cost: 1 ns, an unsafe call of three loads.
threadNumber :: IO Int
threadNumber = numberIn <$> region
{-# INLINE threadNumber #-}

-- | How many threads are in the team, as @omp_get_num_threads@ has it: 1 outside of regions.
--
-- Cost: 1 ns, as 'threadNumber'.
teamSize :: IO Int
teamSize = sizeIn <$> region
{-# INLINE teamSize #-}

-- | Whether a region with more than one thread encloses the code, as @omp_in_parallel@ has it.
--
-- Cost: 1 ns, as 'threadNumber'.
inParallel :: IO Bool
inParallel = (/= 0) . parallelIn <$> region
{-# INLINE inParallel #-}

-- The bits are those of runtime/haskell/prim.h.
numberIn, sizeIn, parallelIn :: Word64 -> Int
numberIn word = fromIntegral (word .&. 0xffffffff)
sizeIn word = fromIntegral ((word `unsafeShiftR` 32) .&. 0x7fffffff)
parallelIn word = fromIntegral (word `unsafeShiftR` 63)
{-# INLINE numberIn #-}
{-# INLINE sizeIn #-}
{-# INLINE parallelIn #-}

-- | Where a thread is.
data Place = Place
  { -- | As 'capabilityNumber'.
    placeCapability :: !Int,
    -- | As 'threadNumber'.
    placeThread :: !Int,
    -- | As 'teamSize'.
    placeTeamSize :: !Int,
    -- | As 'inParallel'.
    placeInParallel :: !Bool
  }
  deriving (Eq, Show)

foreign import prim "capstan_prim_place"
  place# :: State# RealWorld -> (# State# RealWorld, Int#, Int#, Int#, Int# #)

-- | All four answers, of one moment.
--
-- Cost: 2 ns; nothing is allocated if the record is taken apart at once.
place :: IO Place
place = IO $ \s0 -> case place# s0 of
  (# s1, capability, thread, size, parallel #) ->
    (# s1, Place (I# capability) (I# thread) (I# size) (isTrue# parallel) #)
{-# INLINE place #-}
