{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
-- GHC's bytecode interpreter has no unboxed tuples before GHC 9.2.
{-# OPTIONS_GHC -fobject-code #-}
-- The preprocessor takes only macros from the header, because newer headers contain C comments,
-- which it would leave in the text. Warnings are off, because GHC's C stub includes headers that
-- define some macros again.
{-# OPTIONS_GHC -optP-imacros -optPDerivedConstants.h -optP-w #-}

-- |
-- Module      : Capstan.Capability
-- Description : The Capability that a thread runs on
-- Stability   : experimental
--
-- One question that is cheap enough for an inner loop.
--
-- > bump :: IOUArray Int Int -> IO ()
-- > bump counters = do
-- >   mine <- capabilityNumber
-- >   readArray counters mine >>= writeArray counters mine . (+ 1)
--
-- GHC may move a thread to another Capability whenever it allocates, unless the thread was made
-- with 'Control.Concurrent.forkOn'. The answer is then out of date: use it as a hint, as the example
-- does.
--
-- The call neither blocks, allocates nor fails. Any thread may make it, also without the threaded
-- RTS.
--
-- @since 0.1.0
module Capstan.Capability
  ( capabilityNumber,
  )
where

import Data.Word (Word32)
import Foreign.Storable (peekByteOff)
import GHC.Exts
import GHC.IO (IO (IO))

-- | The number of the Capability that the calling thread runs on, from 0. The threads of a
-- Capability run one at a time, and only they get its number. So the number can be an index into a
-- table with a row for each Capability.
--
-- Cost: two loads, in line.
capabilityNumber :: IO Int
capabilityNumber = do
  capability <- currentCapability
  number <- peekByteOff capability OFFSET_Capability_no
  pure (fromIntegral (number :: Word32))
{-# INLINE capabilityNumber #-}

-- | The address of GHC's record of the Capability. A thread's object has a field with this address.
-- To read the field in line, the object is read as a byte array, whose contents begin a word after
-- the header. No collection can happen in between.
currentCapability :: IO (Ptr ())
currentCapability = IO $ \s0 -> case myThreadId# s0 of
  (# s1, thread #) -> case readWord8ArrayAsAddr# (bytes thread) offset s1 of
    (# s2, capability #) -> (# s2, Ptr capability #)
  where
    bytes :: ThreadId# -> MutableByteArray# RealWorld
    bytes = unsafeCoerce#
    !(I# offset) = OFFSET_StgTSO_cap - 8
{-# INLINE currentCapability #-}
