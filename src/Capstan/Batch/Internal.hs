{-# LANGUAGE AllowAmbiguousTypes #-}
{-# LANGUAGE ConstraintKinds #-}
{-# LANGUAGE DataKinds #-}
{-# LANGUAGE FlexibleContexts #-}
{-# LANGUAGE FlexibleInstances #-}
{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE TypeApplications #-}
{-# LANGUAGE TypeFamilies #-}
{-# LANGUAGE TypeOperators #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UndecidableInstances #-}
{-# LANGUAGE UnliftedFFITypes #-}
-- GHC's bytecode interpreter does not support primitives in Cmm.
{-# OPTIONS_GHC -fobject-code #-}

-- |
-- Module      : Capstan.Batch.Internal
-- Description : The memory of a batch
module Capstan.Batch.Internal
  ( Batch,
    new,
    clear,
    Added,
    Callable (..),
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

import Capstan.Exception (throwUnavailable)
import Capstan.Internal.Value
import Control.Monad (when)
import Data.IORef (IORef, newIORef, readIORef, writeIORef)
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
import Foreign.Ptr (FunPtr, castFunPtrToPtr, plusPtr)
import GHC.Exts (Addr#, Ptr (Ptr), RealWorld, State#)
import GHC.IO (IO (IO))
import GHC.TypeLits (ErrorMessage (..), Nat, TypeError, type (+), type (<=?))

-- | A list of foreign calls with their arguments, and after 'run' with their results. One thread at
-- a time may use a batch.
newtype Batch = Batch (IORef (MutableByteArray RealWorld))
  deriving (Eq)

-- The memory holds four words about the batch, then the records (runtime/haskell/batch.h).
--
-- The next record goes to the place 'written'. The records before the place 'finished' have
-- results. 'origin' grows at each 'clear': added to a place, it gives a key that was never used
-- before. All places are counted in words.
written, finished, origin, first :: Int
written = 0
finished = 1
origin = 2
first = 4

-- | An empty batch, with room for the given number of calls with a few arguments. The batch grows
-- if it needs more room. GHC throws a heap overflow if memory is exhausted.
new :: Int -> IO Batch
new calls = do
  -- The limit keeps the number of bytes within an 'Int'; GHC has no memory for that number of calls
  -- either.
  memory <- newPinnedByteArray (8 * (first + 6 * max 1 (min (maxBound `div` 64) calls)))
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

-- | Memory with room for the given number of further words, and the place of these words.
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

-- | The type of 'add' for a function type: the same arguments, with a 'Result' in place of the
-- returned value.
type family Added f where
  Added (a -> f) = a -> Added f
  Added (IO r) = IO (Result r)
  Added r = IO (Result r)

-- | The types of C functions that a batch can call: their arguments are 'Argument's, and their
-- result is a 'Returned', in 'IO' or pure.
class Callable f where
  -- | Adds a call. The two functions write the arguments so far: the arguments in general
  -- registers, and those in floating-point registers. Each takes the place of its first argument.
  -- The two numbers count these arguments.
  adding :: Batch -> Ptr () -> Put -> Put -> Int -> Int -> Added f

instance (Argument a, KnownRegister (Passed a), Callable f) => Callable (a -> f) where
  adding batch function integers floats n m a
    | isFloating @(Passed a) =
      adding @f batch function integers (\memory at -> floats memory at >> put a memory (at + m)) n (m + 1)
    | otherwise =
      adding @f batch function (\memory at -> integers memory at >> put a memory (at + n)) floats (n + 1) m
  {-# INLINE adding #-}

instance (Returned r, KnownRegister (From r)) => Callable (IO r) where
  adding batch function integers floats n m = record n m batch function integers floats
  {-# INLINE adding #-}

-- | A pure function that has all its arguments.
instance {-# OVERLAPPABLE #-} (Returned r, KnownRegister (From r), Added r ~ IO (Result r)) => Callable r where
  adding batch function integers floats n m = record n m batch function integers floats
  {-# INLINE adding #-}

-- | Writes the record of a call whose result has the type @r@. It is inlined where it has all its
-- arguments, and then allocates nothing.
record :: forall r. KnownRegister (From r) => Int -> Int -> Batch -> Ptr () -> Put -> Put -> IO (Result r)
record n m batch function integers floats = do
  (memory, at) <- reserve batch (3 + n + m)
  writeByteArray memory at ((n * 9 + m) * 2 + fromEnum (isFloating @(From r)))
  writeByteArray memory (at + 1) function
  integers memory (at + 3)
  floats memory (at + 3 + n)
  writeByteArray memory written (at + 3 + n + m)
  before <- readByteArray memory origin
  pure (Result (before + at))
{-# INLINE record #-}

-- | The number of arguments of a function type that go into registers of a kind.
type family Count (register :: Register) (f :: Type) :: Nat where
  Count register (a -> f) = Same register (Passed a) + Count register f
  Count register r = 0

type family Same (register :: Register) (other :: Register) :: Nat where
  Same register register = 1
  Same register other = 0

-- | The constraint that all arguments fit into registers.
type Fits f =
  ( Within (Count 'General f <=? 6) "more than six integers or pointers",
    Within (Count 'Floating f <=? 8) "more than eight floating-point numbers"
  )

type family Within (fits :: Bool) what :: Constraint where
  Within 'True what = ()
  Within 'False what =
    TypeError ('Text "Capstan.Batch cannot call a function with " ':<>: 'Text what)

-- | Adds a call of the function to the batch. It takes the function's arguments, and returns the
-- key to the call's result.
--
-- Cost: a few stores, 1 to 2 ns. Nothing is allocated, except when the batch grows.
add :: forall f. (Callable f, Fits f) => Batch -> FunPtr f -> Added f
add batch function = adding @f batch (castFunPtrToPtr function) none none 0 0
  where
    none _ _ = pure ()
{-# INLINE add #-}

-- * Results

-- | The key to the result of a call.
newtype Result r = Result Int
  deriving (Eq, Show)

-- | The result of a call of this batch. Throws 'Capstan.Exception.Unavailable' if the call has not
-- been made yet, if an exception ended 'run', or if 'clear' forgot the call. A key of another batch
-- reads an unrelated result of this batch.
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
absent = throwUnavailable "Capstan.Batch.result: the call has not been made, its run was interrupted, or it was forgotten"
{-# NOINLINE absent #-}

-- * Running

foreign import prim "capstan_batch_run"
  run# :: Addr# -> Addr# -> State# RealWorld -> (# State# RealWorld #)

foreign import ccall unsafe "cst_batch_run"
  runHere :: Ptr () -> Ptr () -> IO ()

-- | Makes all calls, in the order in which they were added, as one safe foreign call. The collector
-- and other Haskell threads run meanwhile, and the functions may block and call Haskell. The batch
-- keeps the calls, so another 'run' makes them again. An asynchronous exception (@timeout@,
-- @killThread@) arrives when the last call has returned; then the batch has no results.
--
-- Cost: one safe call, and 1 to 2 ns for each function, in addition to the function's own time.
run :: Batch -> IO ()
run = runBy $ \(Ptr from) (Ptr to) -> IO $ \s -> case run# from to s of
  (# s' #) -> (# s', () #)
{-# INLINE run #-}

-- | As 'run', but as one unsafe foreign call. Meant for functions that are short and do not call
-- Haskell, because no collection can begin before the last function has returned.
--
-- Cost: 1 to 2 ns for each function, in addition to the function's own time.
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
