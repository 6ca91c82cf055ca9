{-# LANGUAGE AllowAmbiguousTypes #-}
{-# LANGUAGE DataKinds #-}
{-# LANGUAGE TypeFamilies #-}

-- |
-- Module      : Capstan.Batch.Value
-- Description : What goes into a call of a batch and comes out of it
--
-- Which types a C function may take and return, and in which registers they travel.
--
-- This module is internal: it may change without notice.
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
import GHC.Exts (RealWorld)

-- | Where a processor expects an argument.
data Register = General | Floating

class KnownRegister (register :: Register) where
  isFloating :: Bool

instance KnownRegister 'General where isFloating = False

instance KnownRegister 'Floating where isFloating = True

-- | Writes an argument at a place.
type Put = MutableByteArray RealWorld -> Int -> IO ()

-- | What can be an argument. An instance for a newtype is derived by @GeneralizedNewtypeDeriving@, for
-- which 'Passed' must be given as well.
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

instance Argument (Ptr a) where
  type Passed (Ptr a) = 'General
  put a memory at = writeByteArray memory at a
  {-# INLINE put #-}

instance Returned (Ptr r) where
  type From (Ptr r) = 'General
  get = readByteArray
  {-# INLINE get #-}

instance Argument (FunPtr a) where
  type Passed (FunPtr a) = 'General
  put a memory at = writeByteArray memory at a
  {-# INLINE put #-}

instance Returned (FunPtr r) where
  type From (FunPtr r) = 'General
  get = readByteArray
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

instance Argument Int where
  type Passed Int = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Int where
  type From Int = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Int8 where
  type Passed Int8 = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Int8 where
  type From Int8 = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Int16 where
  type Passed Int16 = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Int16 where
  type From Int16 = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Int32 where
  type Passed Int32 = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Int32 where
  type From Int32 = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Int64 where
  type Passed Int64 = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Int64 where
  type From Int64 = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Word where
  type Passed Word = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Word where
  type From Word = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Word8 where
  type Passed Word8 = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Word8 where
  type From Word8 = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Word16 where
  type Passed Word16 = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Word16 where
  type From Word16 = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Word32 where
  type Passed Word32 = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Word32 where
  type From Word32 = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument Word64 where
  type Passed Word64 = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned Word64 where
  type From Word64 = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CChar where
  type Passed CChar = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CChar where
  type From CChar = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CSChar where
  type Passed CSChar = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CSChar where
  type From CSChar = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CUChar where
  type Passed CUChar = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CUChar where
  type From CUChar = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CShort where
  type Passed CShort = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CShort where
  type From CShort = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CUShort where
  type Passed CUShort = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CUShort where
  type From CUShort = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CInt where
  type Passed CInt = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CInt where
  type From CInt = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CUInt where
  type Passed CUInt = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CUInt where
  type From CUInt = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CLong where
  type Passed CLong = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CLong where
  type From CLong = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CULong where
  type Passed CULong = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CULong where
  type From CULong = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CLLong where
  type Passed CLLong = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CLLong where
  type From CLLong = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CULLong where
  type Passed CULLong = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CULLong where
  type From CULLong = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CSize where
  type Passed CSize = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CSize where
  type From CSize = 'General
  get = getInteger
  {-# INLINE get #-}

instance Argument CBool where
  type Passed CBool = 'General
  put = putInteger
  {-# INLINE put #-}

instance Returned CBool where
  type From CBool = 'General
  get = getInteger
  {-# INLINE get #-}
