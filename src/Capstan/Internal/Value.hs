{-# LANGUAGE AllowAmbiguousTypes #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE DataKinds #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module      : Capstan.Internal.Value
-- Description : The types of arguments and results of C calls
--
-- The types that a C function may take and return, with the registers in which they are passed. A
-- batch passes them from Haskell to C ("Capstan.Batch"), and a callback from C to Haskell
-- ("Capstan.Callback").
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

-- | The kind of register in which the calling convention passes a value.
data Register = General | Floating

class KnownRegister (register :: Register) where
  isFloating :: Bool

instance KnownRegister 'General where isFloating = False

instance KnownRegister 'Floating where isFloating = True

-- | Writes an argument at a place.
type Put = MutableByteArray RealWorld -> Int -> IO ()

-- | The arguments of a call from C that were read so far: their number in registers for integers,
-- in registers for floating-point numbers, and on the stack.
data Arguments = Arguments !Int !Int !Int

noArguments :: Arguments
noArguments = Arguments 0 0 0
{-# INLINE noArguments #-}

-- The numbers of registers in C's calling convention, and their offsets in a call
-- (runtime/platform/stack.h).
integers, reals, realsAt, stackAt :: Int
integers = CST_CALL_INTEGERS
reals = CST_CALL_REALS
realsAt = 8 * integers
stackAt = realsAt + 8 * reals

-- | Types of arguments of functions in a batch and of callbacks: the foreign types of the Haskell
-- report, and the types of "Foreign.C.Types" and "System.Posix.Types". 'Bool' is C's @bool@. A
-- newtype of such a type can derive its instance. The associated type needs three more extensions:
--
-- > {-# LANGUAGE DataKinds, DerivingStrategies, GeneralizedNewtypeDeriving, TypeFamilies, UndecidableInstances #-}
-- > newtype Metres = Metres Double
-- >   deriving newtype (Argument, Returned)
--
-- A type that C passes in the same way needs an instance by hand:
--
-- > newtype Seconds = Seconds Double deriving newtype (Storable)
-- > instance Argument Seconds where
-- >   type Passed Seconds = 'Floating
-- >   put (Seconds s) = put s
-- >   argument = realArgument
class Argument a where
  -- | The kind of register in which the argument is passed.
  type Passed a :: Register

  -- | Writes the argument into the word with that number.
  put :: a -> Put

  -- | Reads the next argument of a call from C, after the arguments that were read so far.
  argument :: Ptr Call -> Arguments -> (IO a, Arguments)

-- | Types of results of functions in a batch and of callbacks.
class Returned r where
  -- | The kind of register in which the result is returned.
  type From r :: Register

  -- | Reads the result from the word with that number.
  get :: MutableByteArray RealWorld -> Int -> IO r

  -- | Stores the value as the result of a call from C.
  returning :: Ptr Call -> r -> IO ()

-- | Reads an argument that C passes as an integer or a pointer.
integerArgument :: Storable a => Ptr Call -> Arguments -> (IO a, Arguments)
integerArgument call (Arguments i r s)
  | i < integers = (peekByteOff call (8 * i), Arguments (i + 1) r s)
  | otherwise = (onStack call s, Arguments i r (s + 1))
{-# INLINE integerArgument #-}

-- | Reads an argument that C passes as a floating-point number.
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

-- | Stores a result that C returns as an integer.
integerResult :: Integral r => Ptr Call -> r -> IO ()
integerResult call r = pokeByteOff call 0 (fromIntegral r :: Int64)
{-# INLINE integerResult #-}

-- | Stores a result that C returns as a floating-point number.
realResult :: Storable r => Ptr Call -> r -> IO ()
realResult call = pokeByteOff call realsAt
{-# INLINE realResult #-}

-- | Writes an integer. A shorter integer is extended with its sign or with zeros, as its type says,
-- because some compilers rely on this.
putInteger :: Integral a => a -> Put
putInteger a memory at = writeByteArray memory at (fromIntegral a :: Int)
{-# INLINE putInteger #-}

-- | Reads an integer. The bits of a register beyond the integer's length are undefined, so they are
-- dropped.
getInteger :: Num r => MutableByteArray RealWorld -> Int -> IO r
getInteger memory at = (\word -> fromIntegral (word :: Int)) <$> readByteArray memory at
{-# INLINE getInteger #-}

-- | Writes a float into the lower half of a word, which comes first on these processors.
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
-- Types that are integers in C but not in Haskell.
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

-- The types that Linux has.

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
