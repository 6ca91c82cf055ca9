{-# LANGUAGE AllowAmbiguousTypes #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE DataKinds #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module      : Capstan.Internal.Value
-- Description : What goes into a call and comes out of it
--
-- Which types a C function may take and return, and in which registers they travel: from Haskell to C in a call of a batch
-- ("Capstan.Batch"), and from C to Haskell in a callback ("Capstan.Callback").
module Capstan.Internal.Value
  ( Register (..),
    KnownRegister (..),
    Put,
    Argument (..),
    integerArgument,
    realArgument,
    Returned (..),
    integerResult,
    realResult,
    Call,
    Arguments,
    noArguments,
  )
where

#include "numbers.h"

import Capstan.Internal.Coroutine (Call)
import Data.Int (Int16, Int32, Int64, Int8)
import Data.Primitive.ByteArray (MutableByteArray, readByteArray, writeByteArray)
import Data.Word (Word16, Word32, Word64, Word8)
import Foreign.C.Types
import Foreign.Ptr (FunPtr, Ptr)
import Foreign.StablePtr (StablePtr, castPtrToStablePtr, castStablePtrToPtr)
import Foreign.Storable
import GHC.Exts (RealWorld)
import System.Posix.Types

-- | Where a processor expects an argument.
data Register = General | Floating

class KnownRegister (register :: Register) where
  isFloating :: Bool

instance KnownRegister 'General where isFloating = False

instance KnownRegister 'Floating where isFloating = True

-- | Writes an argument at a place.
type Put = MutableByteArray RealWorld -> Int -> IO ()

-- | Of a call from C: how many arguments were found so far in registers for integers, in registers for
-- floating-point numbers, and on the stack.
data Arguments = Arguments !Int !Int !Int

noArguments :: Arguments
noArguments = Arguments 0 0 0
{-# INLINE noArguments #-}

-- Registers of the C convention, and where they are in a call (runtime/platform/stack.h).
integers, reals, realsAt, stackAt :: Int
integers = CST_CALL_INTEGERS
reals = CST_CALL_REALS
realsAt = 8 * integers
stackAt = realsAt + 8 * reals

-- | What can be an argument, of a function that is called in a batch, or of a callback: the foreign types of the Haskell report, and
-- those of "Foreign.C.Types" and "System.Posix.Types". 'Bool' is C's @bool@. A newtype of an instance derives its own; the associated
-- type asks for three extensions more:
--
-- > {-# LANGUAGE DataKinds, DerivingStrategies, GeneralizedNewtypeDeriving, TypeFamilies, UndecidableInstances #-}
-- > newtype Metres = Metres Double
-- >   deriving newtype (Argument, Returned)
--
-- Other types that C passes so become one by hand:
--
-- > newtype Seconds = Seconds Double deriving newtype (Storable)
-- > instance Argument Seconds where
-- >   type Passed Seconds = 'Floating
-- >   put (Seconds s) = put s
-- >   argument = realArgument
class Argument a where
  -- | Where the processor expects it.
  type Passed a :: Register

  -- | Writes it into the word with that number.
  put :: a -> Put

  -- | Reads the next argument of a call from C, after some others.
  argument :: Ptr Call -> Arguments -> (IO a, Arguments)

-- | What can be returned: of such a function, or by a callback.
class Returned r where
  -- | Where the processor leaves it.
  type From r :: Register

  -- | Reads it from the word with that number.
  get :: MutableByteArray RealWorld -> Int -> IO r

  -- | Stores it as the result of a call from C.
  returning :: Ptr Call -> r -> IO ()

-- | For what C passes as an integer or a pointer.
integerArgument :: Storable a => Ptr Call -> Arguments -> (IO a, Arguments)
integerArgument call (Arguments i r s)
  | i < integers = (peekByteOff call (8 * i), Arguments (i + 1) r s)
  | otherwise = (onStack call s, Arguments i r (s + 1))
{-# INLINE integerArgument #-}

-- | For what C passes as a floating-point number.
realArgument :: Storable a => Ptr Call -> Arguments -> (IO a, Arguments)
realArgument call (Arguments i r s)
  | r < reals = (peekByteOff call (realsAt + 8 * r), Arguments i (r + 1) s)
  | otherwise = (onStack call s, Arguments i r (s + 1))
{-# INLINE realArgument #-}

onStack :: Storable a => Ptr Call -> Int -> IO a
onStack call n = do
  stack <- peekByteOff call stackAt :: IO (Ptr ())
  peekByteOff stack (8 * n)
{-# INLINE onStack #-}

-- | For what C returns as an integer.
integerResult :: Integral r => Ptr Call -> r -> IO ()
integerResult call r = pokeByteOff call 0 (fromIntegral r :: Int64)
{-# INLINE integerResult #-}

-- | For what C returns as a floating-point number.
realResult :: Storable r => Ptr Call -> r -> IO ()
realResult call = pokeByteOff call realsAt
{-# INLINE realResult #-}

-- | A shorter integer is extended as its type says: some compilers rely on it.
putInteger :: Integral a => a -> Put
putInteger a memory at = writeByteArray memory at (fromIntegral a :: Int)
{-# INLINE putInteger #-}

-- | Beyond its own length, what a register holds is undefined.
getInteger :: Num r => MutableByteArray RealWorld -> Int -> IO r
getInteger memory at = (\word -> fromIntegral (word :: Int)) <$> readByteArray memory at
{-# INLINE getInteger #-}

-- | A float is the lower half of a word, which is the first on these processors.
putFloat :: Float -> Put
putFloat a memory at = writeByteArray memory (2 * at) a
{-# INLINE putFloat #-}

instance Returned () where
  type From () = 'General
  get _ _ = pure ()
  {-# INLINE get #-}
  returning _ () = pure ()
  {-# INLINE returning #-}

instance Argument Bool where
  type Passed Bool = 'General
  put = putInteger . fromEnum
  {-# INLINE put #-}
  argument call before = ((/= (0 :: Word8)) <$> byte, after)
    where
      (byte, after) = integerArgument call before
  {-# INLINE argument #-}

instance Returned Bool where
  type From Bool = 'General
  get memory at = (/= (0 :: Word8)) <$> getInteger memory at
  {-# INLINE get #-}
  returning call = integerResult call . fromEnum
  {-# INLINE returning #-}

instance Argument Char where
  type Passed Char = 'General
  put = putInteger . fromEnum
  {-# INLINE put #-}
  argument = integerArgument
  {-# INLINE argument #-}

instance Returned Char where
  type From Char = 'General
  get memory at = (\word -> toEnum (fromIntegral (word :: Word32))) <$> getInteger memory at
  {-# INLINE get #-}
  returning call = integerResult call . fromEnum
  {-# INLINE returning #-}

instance Argument (StablePtr a) where
  type Passed (StablePtr a) = 'General
  put a memory at = writeByteArray memory at (castStablePtrToPtr a)
  {-# INLINE put #-}
  argument = integerArgument
  {-# INLINE argument #-}

instance Returned (StablePtr r) where
  type From (StablePtr r) = 'General
  get memory at = castPtrToStablePtr <$> readByteArray memory at
  {-# INLINE get #-}
  returning call = pokeByteOff call 0
  {-# INLINE returning #-}

instance Argument Double where
  type Passed Double = 'Floating
  put a memory at = writeByteArray memory at a
  {-# INLINE put #-}
  argument = realArgument
  {-# INLINE argument #-}

instance Returned Double where
  type From Double = 'Floating
  get = readByteArray
  {-# INLINE get #-}
  returning = realResult
  {-# INLINE returning #-}

instance Argument CDouble where
  type Passed CDouble = 'Floating
  put (CDouble a) = put a
  {-# INLINE put #-}
  argument = realArgument
  {-# INLINE argument #-}

instance Returned CDouble where
  type From CDouble = 'Floating
  get memory at = CDouble <$> get memory at
  {-# INLINE get #-}
  returning = realResult
  {-# INLINE returning #-}

instance Argument Float where
  type Passed Float = 'Floating
  put = putFloat
  {-# INLINE put #-}
  argument = realArgument
  {-# INLINE argument #-}

instance Returned Float where
  type From Float = 'Floating
  get memory at = readByteArray memory (2 * at)
  {-# INLINE get #-}
  returning = realResult
  {-# INLINE returning #-}

instance Argument CFloat where
  type Passed CFloat = 'Floating
  put (CFloat a) = putFloat a
  {-# INLINE put #-}
  argument = realArgument
  {-# INLINE argument #-}

instance Returned CFloat where
  type From CFloat = 'Floating
  get memory at = CFloat <$> get memory at
  {-# INLINE get #-}
  returning = realResult
  {-# INLINE returning #-}

#define INTEGER(T) \
instance Argument T where {type Passed T = 'General; put = putInteger; argument = integerArgument; {-# INLINE put #-}; {-# INLINE argument #-}}; \
instance Returned T where {type From T = 'General; get = getInteger; returning = integerResult; {-# INLINE get #-}; {-# INLINE returning #-}}
-- An integer in C, of which Haskell does not say so.
#define OPAQUE(T) \
instance Argument T where {type Passed T = 'General; put = putInteger . fromEnum; argument = integerArgument; {-# INLINE put #-}; {-# INLINE argument #-}}; \
instance Returned T where {type From T = 'General; get = getInteger; returning call = integerResult call . fromEnum; {-# INLINE get #-}; {-# INLINE returning #-}}
#define POINTER(T) \
instance Argument (T a) where {type Passed (T a) = 'General; put a memory at = writeByteArray memory at a; argument = integerArgument; {-# INLINE put #-}; {-# INLINE argument #-}}; \
instance Returned (T a) where {type From (T a) = 'General; get = readByteArray; returning call = pokeByteOff call 0; {-# INLINE get #-}; {-# INLINE returning #-}}

INTEGER (Int)
INTEGER (Int8)
INTEGER (Int16)
INTEGER (Int32)
INTEGER (Int64)
INTEGER (Word)
INTEGER (Word8)
INTEGER (Word16)
INTEGER (Word32)
INTEGER (Word64)
INTEGER (CChar)
INTEGER (CSChar)
INTEGER (CUChar)
INTEGER (CShort)
INTEGER (CUShort)
INTEGER (CInt)
INTEGER (CUInt)
INTEGER (CLong)
INTEGER (CULong)
INTEGER (CLLong)
INTEGER (CULLong)
INTEGER (CSize)
INTEGER (CPtrdiff)
INTEGER (CIntPtr)
INTEGER (CUIntPtr)
INTEGER (CIntMax)
INTEGER (CUIntMax)
INTEGER (CBool)
INTEGER (CWchar)
INTEGER (CSigAtomic)
OPAQUE (CTime)
OPAQUE (CClock)
OPAQUE (CUSeconds)
OPAQUE (CSUSeconds)
POINTER (Ptr)
POINTER (FunPtr)

-- As Linux has them.

INTEGER (CBlkCnt)
INTEGER (CBlkSize)
INTEGER (CClockId)
INTEGER (CDev)
INTEGER (CFsBlkCnt)
INTEGER (CFsFilCnt)
INTEGER (CGid)
INTEGER (CId)
INTEGER (CIno)
INTEGER (CKey)
INTEGER (CMode)
INTEGER (CNfds)
INTEGER (CNlink)
INTEGER (COff)
INTEGER (CPid)
INTEGER (CRLim)
INTEGER (CSocklen)
INTEGER (CSsize)
INTEGER (CTcflag)
INTEGER (CUid)
INTEGER (Fd)
OPAQUE (CCc)
OPAQUE (CSpeed)

instance Argument CTimer where
  type Passed CTimer = 'General
  put (CTimer a) memory at = writeByteArray memory at a
  {-# INLINE put #-}
  argument = integerArgument
  {-# INLINE argument #-}

instance Returned CTimer where
  type From CTimer = 'General
  get memory at = CTimer <$> readByteArray memory at
  {-# INLINE get #-}
  returning call = pokeByteOff call 0
  {-# INLINE returning #-}
