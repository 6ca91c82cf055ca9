{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}
-- GHC's bytecode interpreter supports neither primitives in Cmm nor, before GHC 9.2, unboxed
-- tuples.
{-# OPTIONS_GHC -fobject-code #-}

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
-- The OpenMP functions answer for the OS thread that runs the code. Their answers matter in Haskell
-- code that a region calls back; elsewhere a thread is number 0 of a team of 1.
--
-- GHC may move a thread to another Capability whenever it allocates, unless it was made with
-- 'Control.Concurrent.forkOn', and to another OS thread unless it is bound
-- ('Control.Concurrent.forkOS', @main@, callbacks). The answer is then out of date: use it as a
-- hint, as the example does. 'place' gives all four answers for the same moment.
--
-- No call blocks, allocates or fails. No call registers its OS thread with OpenMP. Any thread may
-- make the calls, also without the threaded RTS.
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

import Capstan.Capability (capabilityNumber)
import Data.Bits (unsafeShiftR, (.&.))
import Data.Word (Word64)
import GHC.Exts
import GHC.IO (IO (IO))

foreign import ccall unsafe "cst_prim_region"
  region :: IO Word64

-- | The number of the calling thread in its team, as @omp_get_thread_num@ has it: 0 outside of
-- regions.
--
-- Cost: 1 ns, an unsafe call of three loads.
threadNumber :: IO Int
threadNumber = numberIn <$> region
{-# INLINE threadNumber #-}

-- | The number of threads in the team, as @omp_get_num_threads@ has it: 1 outside of regions.
--
-- Cost: 1 ns, as 'threadNumber'.
teamSize :: IO Int
teamSize = sizeIn <$> region
{-# INLINE teamSize #-}

-- | Whether the code is inside a region with more than one thread, as @omp_in_parallel@ has it.
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

-- | The place of a thread in the program.
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

-- | All four answers, for the same moment.
--
-- Cost: 2 ns; nothing is allocated if the record is taken apart at once.
place :: IO Place
place = IO $ \s0 -> case place# s0 of
  (# s1, capability, thread, size, parallel #) ->
    (# s1, Place (I# capability) (I# thread) (I# size) (isTrue# parallel) #)
{-# INLINE place #-}
