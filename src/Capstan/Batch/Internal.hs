{-# LANGUAGE AllowAmbiguousTypes #-}
{-# LANGUAGE ConstraintKinds #-}
{-# LANGUAGE DataKinds #-}
{-# LANGUAGE FlexibleContexts #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE TypeApplications #-}
{-# LANGUAGE TypeFamilies #-}
{-# LANGUAGE TypeOperators #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UndecidableInstances #-}
{-# LANGUAGE UnliftedFFITypes #-}
-- The bytecode interpreter knows no primitives in Cmm.
{-# OPTIONS_GHC -fobject-code #-}

-- |
-- Module      : Capstan.Batch.Internal
-- Description : How a batch is written down
--
-- This module is internal: it may change without notice.
module Capstan.Batch.Internal
  ( Batch,
    newBatch,
    clear,
    Function (..),
    Fits,
    add,
    Result,
    result,
    run,
    runUnsafe,
    Argument (..),
    Register (..),
    KnownRegister,
    Returned (..),
  )
where

import Control.Monad (when)
import Data.IORef (IORef, newIORef, readIORef, writeIORef)
import Data.Int (Int16, Int32, Int64, Int8)
import Data.Kind (Constraint, Type)
import Data.Primitive.ByteArray
  ( MutableByteArray,
    copyMutableByteArray,
    getSizeofMutableByteArray,
    mutableByteArrayContents,
    newPinnedByteArray,
    readByteArray,
    writeByteArray,
  )
import Data.Word (Word16, Word32, Word64, Word8)
import Foreign.C.Types
import Foreign.Ptr (FunPtr, castFunPtrToPtr, plusPtr)
import GHC.Exts (Addr#, Ptr (Ptr), RealWorld, State#)
import GHC.IO (IO (IO))
import GHC.TypeLits (ErrorMessage (..), Nat, TypeError, type (+), type (<=?))

-- | Foreign calls with their arguments, and after 'run' their results. One thread at a time may use
-- a batch.
newtype Batch = Batch (IORef (MutableByteArray RealWorld))

-- The memory holds four words about the batch, then the records (runtime/haskell/batch.h).
--
-- written: where the next record goes
-- finished: results are there for records before this place
-- origin: what to add to a place to make it one that no earlier 'clear' has seen
-- All in words.
written, finished, origin, first :: Int
written = 0
finished = 1
origin = 2
first = 4

-- | An empty batch, with room for so many calls of a few arguments. It grows.
newBatch :: Int -> IO Batch
newBatch calls = do
  memory <- newPinnedByteArray (8 * (first + 6 * max 1 calls))
  mapM_ (\place -> writeByteArray memory place first) [written, finished]
  writeByteArray memory origin (0 :: Int)
  Batch <$> newIORef memory

-- | Forgets all calls and their results. The memory is kept.
clear :: Batch -> IO ()
clear (Batch reference) = do
  memory <- readIORef reference
  end <- readByteArray memory written
  before <- readByteArray memory origin
  writeByteArray memory origin (before + end :: Int)
  writeByteArray memory written first
  writeByteArray memory finished first

-- | Memory with room for so many words more, and where they go.
reserve :: Batch -> Int -> IO (MutableByteArray RealWorld, Int)
reserve (Batch reference) count = do
  memory <- readIORef reference
  at <- readByteArray memory written
  size <- getSizeofMutableByteArray memory
  if 8 * (at + count) <= size
    then pure (memory, at)
    else do
      larger <- newPinnedByteArray (max (2 * size) (8 * (at + count)))
      copyMutableByteArray larger 0 memory 0 (8 * at)
      writeIORef reference larger
      pure (larger, at)
{-# INLINE reserve #-}

-- * Types of functions

-- | Where a processor expects an argument.
data Register = General | Floating

class KnownRegister (register :: Register) where
  isFloating :: Bool

instance KnownRegister 'General where isFloating = False

instance KnownRegister 'Floating where isFloating = True

-- | Writes an argument at a place.
type Put = MutableByteArray RealWorld -> Int -> IO ()

-- | C functions that can be called in a batch: of 'Argument's, with a 'Returned' in 'IO'.
class Function f where
  -- | What 'add' makes of the type: the same arguments, and a 'Result' for what is returned.
  type Added f

  -- | Adds a call, given how to put the arguments so far: those in general registers, given the place of the first,
  -- and those in floating-point ones; and how many there are of each.
  adding :: Batch -> Ptr () -> Put -> Put -> Int -> Int -> Added f

instance (Argument a, KnownRegister (Passed a), Function f) => Function (a -> f) where
  type Added (a -> f) = a -> Added f
  adding batch function integers floats n m a
    | isFloating @(Passed a) =
      adding @f batch function integers (\memory at -> floats memory at >> put a memory (at + m)) n (m + 1)
    | otherwise =
      adding @f batch function (\memory at -> integers memory at >> put a memory (at + n)) floats (n + 1) m
  {-# INLINE adding #-}

instance (Returned r, KnownRegister (From r)) => Function (IO r) where
  type Added (IO r) = IO (Result r)
  adding batch function integers floats n m = do
    (memory, at) <- reserve batch (3 + n + m)
    writeByteArray memory at ((n * 9 + m) * 2 + fromEnum (isFloating @(From r)))
    writeByteArray memory (at + 1) function
    integers memory (at + 3)
    floats memory (at + 3 + n)
    writeByteArray memory written (at + 3 + n + m)
    before <- readByteArray memory origin
    pure (Result (before + at))
  {-# INLINE adding #-}

-- | How many arguments of the type go into registers of a kind.
type family Count (register :: Register) (f :: Type) :: Nat where
  Count register (a -> f) = Same register (Passed a) + Count register f
  Count register (IO r) = 0

type family Same (register :: Register) (other :: Register) :: Nat where
  Same register register = 1
  Same register other = 0

-- | That all arguments go into registers.
type Fits f =
  ( Within (Count 'General f <=? 6) "more than six integers or pointers",
    Within (Count 'Floating f <=? 8) "more than eight floating-point numbers"
  )

type family Within (fits :: Bool) what :: Constraint where
  Within 'True what = ()
  Within 'False what =
    TypeError ('Text "Capstan.Batch cannot call a function with " ':<>: 'Text what)

-- | Adds a call of the function to the batch. It takes the function's arguments, and gives the key to its result.
--
-- Cost: a few stores, 1 to 2 ns. Nothing is allocated, except when the batch grows.
add :: forall f. (Function f, Fits f) => Batch -> FunPtr f -> Added f
add batch function = adding @f batch (castFunPtrToPtr function) none none 0 0
  where
    none _ _ = pure ()
{-# INLINE add #-}

-- * Results

-- | The key to what a call will have returned.
newtype Result r = Result Int
  deriving (Eq, Show)

-- | What a call has returned. An exception if it has not been made yet, or was forgotten by 'clear'.
--
-- Cost: a few loads.
result :: Returned r => Batch -> Result r -> IO r
result (Batch reference) (Result key) = do
  memory <- readIORef reference
  before <- readByteArray memory origin
  end <- readByteArray memory finished
  let at = key - before
  when (at < first || at >= end) absent
  get memory (at + 2)
{-# INLINE result #-}

absent :: IO ()
absent = ioError (userError "Capstan.Batch.result: the call has not been made, or was forgotten")
{-# NOINLINE absent #-}

-- * Running

foreign import prim "capstan_batch_run"
  run# :: Addr# -> Addr# -> State# RealWorld -> (# State# RealWorld #)

foreign import ccall unsafe "cst_batch_run"
  runHere :: Ptr () -> Ptr () -> IO ()

-- | Makes all calls, in the order in which they were added, as one safe foreign call: the collector
-- and other Haskell threads go on meanwhile, and the functions may block and call Haskell. The batch
-- keeps the calls; to run it again makes them again.
--
-- Cost: that of one safe call, and 1 to 2 ns for each function beside what it does itself.
run :: Batch -> IO ()
run = runBy $ \(Ptr from) (Ptr to) -> IO $ \s -> case run# from to s of
  (# s' #) -> (# s', () #)
{-# INLINE run #-}

-- | The same as one unsafe foreign call: for functions that neither call Haskell nor take long, because no collection can
-- begin before the last has returned.
--
-- Cost: 1 to 2 ns for each function beside what it does itself.
runUnsafe :: Batch -> IO ()
runUnsafe = runBy runHere
{-# INLINE runUnsafe #-}

runBy :: (Ptr () -> Ptr () -> IO ()) -> Batch -> IO ()
runBy calls (Batch reference) = do
  memory <- readIORef reference
  end <- readByteArray memory written
  let start = mutableByteArrayContents memory
  calls (start `plusPtr` (8 * first)) (start `plusPtr` (8 * end))
  writeByteArray memory finished end
{-# INLINE runBy #-}

-- * Arguments and results

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
