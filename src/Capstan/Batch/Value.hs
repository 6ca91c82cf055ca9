{-# LANGUAGE AllowAmbiguousTypes #-}
{-# LANGUAGE CPP #-}
{-# LANGUAGE DataKinds #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module      : Capstan.Batch.Value
-- Description : What goes into a call of a batch and comes out of it
--
-- Which types a C function may take and return, and in which registers they travel.
module Capstan.Batch.Value
  ( Register (..),
    KnownRegister (..),
    Put,
    Argument (..),
    Returned (..),
  )
where

import Data.Int (Int16, Int32, Int64, Int8)
import Data.Primitive.ByteArray (MutableByteArray, readByteArray, writeByteArray)
import Data.Word (Word16, Word32, Word64, Word8)
import Foreign.C.Types
import Foreign.Ptr (FunPtr, Ptr)
import Foreign.StablePtr (StablePtr, castPtrToStablePtr, castStablePtrToPtr)
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

-- | What can be an argument: the foreign types of the Haskell report, and those of "Foreign.C.Types" and
-- "System.Posix.Types". 'Bool' is C's @bool@. A newtype of an instance derives its own; the associated type asks for
-- two extensions more:
--
-- > {-# LANGUAGE DerivingStrategies, GeneralizedNewtypeDeriving, TypeFamilies, UndecidableInstances #-}
-- > newtype Metres = Metres Double
-- >   deriving newtype (Argument, Returned)
class Argument a where
  -- | Where the processor expects it.
  type Passed a :: Register

  -- | Writes it into the word with that number.
  put :: a -> Put

-- | What can be returned.
class Returned r where
  -- | Where the processor leaves it.
  type From r :: Register

  -- | Reads it from the word with that number.
  get :: MutableByteArray RealWorld -> Int -> IO r

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

instance Argument Bool where
  type Passed Bool = 'General
  put = putInteger . fromEnum
  {-# INLINE put #-}

instance Returned Bool where
  type From Bool = 'General
  get memory at = (/= (0 :: Word8)) <$> getInteger memory at
  {-# INLINE get #-}

instance Argument Char where
  type Passed Char = 'General
  put = putInteger . fromEnum
  {-# INLINE put #-}

instance Returned Char where
  type From Char = 'General
  get memory at = (\word -> toEnum (fromIntegral (word :: Word32))) <$> getInteger memory at
  {-# INLINE get #-}

instance Argument (StablePtr a) where
  type Passed (StablePtr a) = 'General
  put a memory at = writeByteArray memory at (castStablePtrToPtr a)
  {-# INLINE put #-}

instance Returned (StablePtr r) where
  type From (StablePtr r) = 'General
  get memory at = castPtrToStablePtr <$> readByteArray memory at
  {-# INLINE get #-}

instance Argument Double where
  type Passed Double = 'Floating
  put a memory at = writeByteArray memory at a
  {-# INLINE put #-}

instance Returned Double where
  type From Double = 'Floating
  get = readByteArray
  {-# INLINE get #-}

instance Argument CDouble where
  type Passed CDouble = 'Floating
  put (CDouble a) = put a
  {-# INLINE put #-}

instance Returned CDouble where
  type From CDouble = 'Floating
  get memory at = CDouble <$> get memory at
  {-# INLINE get #-}

instance Argument Float where
  type Passed Float = 'Floating
  put = putFloat
  {-# INLINE put #-}

instance Returned Float where
  type From Float = 'Floating
  get memory at = readByteArray memory (2 * at)
  {-# INLINE get #-}

instance Argument CFloat where
  type Passed CFloat = 'Floating
  put (CFloat a) = putFloat a
  {-# INLINE put #-}

instance Returned CFloat where
  type From CFloat = 'Floating
  get memory at = CFloat <$> get memory at
  {-# INLINE get #-}

#define INTEGER(T) \
instance Argument T where {type Passed T = 'General; put = putInteger; {-# INLINE put #-}}; \
instance Returned T where {type From T = 'General; get = getInteger; {-# INLINE get #-}}
-- An integer in C, of which Haskell does not say so.
#define OPAQUE(T) \
instance Argument T where {type Passed T = 'General; put = putInteger . fromEnum; {-# INLINE put #-}}; \
instance Returned T where {type From T = 'General; get = getInteger; {-# INLINE get #-}}
#define POINTER(T) \
instance Argument (T a) where {type Passed (T a) = 'General; put a memory at = writeByteArray memory at a; {-# INLINE put #-}}; \
instance Returned (T a) where {type From (T a) = 'General; get = readByteArray; {-# INLINE get #-}}

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

instance Returned CTimer where
  type From CTimer = 'General
  get memory at = CTimer <$> readByteArray memory at
  {-# INLINE get #-}
