{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Binding
-- Description : Where the result of a C function lives: four ways, and what each costs.
-- Stability   : experimental
--
-- A C function that fills an array needs memory for it. Who gives it decides what a call costs, more
-- than the call itself does: a result that C allocates with @malloc@ may be mapped by the kernel at
-- each call and freed only when the collector runs. Choose from the top:
--
-- ['withArena', 'reserve'] Results that are used and forgotten: memory that is used again and again.
-- ['fresh'] A result that is kept: pinned memory of GHC's, which the collector counts and frees. No
--   finaliser.
-- ['managed'] The same, where a finaliser is to be added later.
-- ['adopt'] C insists on allocating: its memory with a C finaliser. 'withForeignResult' where the
--   result is used in one place: it is freed there, not when the collector runs.
--
-- @docs/bindings.md@ has the measured costs.
--
-- A negative size, or one beyond all memory, is an 'Capstan.Exception.InvalidArgument'.
--
-- > foreign import ccall unsafe "transform" c_transform :: Ptr Double -> Ptr Double -> CSize -> IO ()
-- >
-- > transform :: Int -> ForeignPtr Double -> IO (ForeignPtr Double)
-- > transform n input =
-- >   withForeignPtr input $ \from -> fresh n $ \to -> c_transform to from (fromIntegral n)
--
-- @since 0.1.0
module Capstan.Binding
  ( -- * Memory of GHC's
    fresh,
    managed,

    -- * Memory that is used again
    Arena,
    withArena,
    reserve,

    -- * Memory of C's
    adopt,
    withForeignResult,
  )
where

import Capstan.Exception.Internal (invalid, unavailable)
import Control.Exception (bracket, mask_, onException)
import Control.Monad (when)
import Foreign.ForeignPtr
import Foreign.Marshal.Alloc (allocaBytesAligned)
import Foreign.Ptr
import Foreign.Storable (Storable, peek, poke, sizeOf)
import GHC.ForeignPtr (mallocPlainForeignPtrBytes)
import GHC.Stack (HasCallStack)

-- | Memory for so many elements, filled by the function; not initialised before. Pinned, freed by the
-- collector, without the bookkeeping of finalisers ('addForeignPtrFinalizer' fails on it). Blocks of
-- 3 KiB and more are not copied by the collector, and count as allocation: eight results of 128 KiB
-- are a collection of the youngest generation, with the default 1 MiB. Any thread.
fresh :: forall a. (HasCallStack, Storable a) => Int -> (Ptr a -> IO ()) -> IO (ForeignPtr a)
fresh n fill
  | n < 0 = negative "fresh" "elements" n
  | tooMany size n = beyond "fresh" n
  | otherwise = do
    result <- mallocPlainForeignPtrBytes (n * size)
    withForeignPtr result fill
    pure result
  where
    size = sizeOf (undefined :: a)

-- | As 'fresh', and finalisers may be added. Any thread.
managed :: forall a. (HasCallStack, Storable a) => Int -> (Ptr a -> IO ()) -> IO (ForeignPtr a)
managed n fill
  | n < 0 = negative "managed" "elements" n
  | tooMany (sizeOf (undefined :: a)) n = beyond "managed" n
  | otherwise = do
    result <- mallocForeignPtrArray n
    withForeignPtr result fill
    pure result

negative :: HasCallStack => String -> String -> Int -> IO a
negative name unit n = invalid ("Capstan.Binding." ++ name ++ ": " ++ show n ++ " " ++ unit ++ "; there must be 0 or more")

-- | Whether so many elements of a size have more bytes than an Int can say, with some to spare.
tooMany :: Int -> Int -> Bool
tooMany size n = n > (maxBound - 4096) `quot` max 1 size
{-# INLINE tooMany #-}

beyond :: HasCallStack => String -> Int -> IO a
beyond name n = invalid ("Capstan.Binding." ++ name ++ ": " ++ show n ++ " elements do not fit into memory")

-- | A stack of memory that lives as long as 'withArena' runs. One thread at a time.
data Arena = Arena
  { -- | Where the offset of the free part stands.
    arenaUsed :: !(Ptr Int),
    arenaStart :: !(Ptr ()),
    arenaBytes :: !Int
  }

-- | Runs an action with an arena of so many bytes, in one block that no call allocates again: after
-- the first use its pages are there. Pointers into it are invalid afterwards.
withArena :: HasCallStack => Int -> (Arena -> IO b) -> IO b
withArena size action
  | size < 0 = negative "withArena" "bytes" size
  | otherwise = allocaBytesAligned (line + size) line $ \block -> do
    poke (castPtr block) (0 :: Int)
    action (Arena (castPtr block) (block `plusPtr` line) size)

-- | The bytes of a cache line, to which reservations are aligned.
line :: Int
line = 64

-- | Memory for so many elements, aligned to 64 bytes, until the action ends; not initialised. Then it
-- is free for the next call, also after an exception. Reservations nest. What does not fit is
-- 'Capstan.Exception.Unavailable': nothing is allocated behind the caller's back. Some nanoseconds.
reserve :: forall a b. (HasCallStack, Storable a) => Arena -> Int -> (Ptr a -> IO b) -> IO b
reserve arena n action = do
  used <- peek (arenaUsed arena)
  let size = sizeOf (undefined :: a)
      bytes = n * size
      -- Not beyond the end, where nothing could be reserved any more, nor nothing.
      end = min (arenaBytes arena) (used + (bytes + line - 1) `div` line * line)
      free' = poke (arenaUsed arena) used
  when (n < 0) (negative "reserve" "elements" n)
  when (tooMany size n) (beyond "reserve" n)
  when (bytes > arenaBytes arena - used) $
    unavailable ("Capstan.Binding.reserve: " ++ show bytes ++ " bytes are wanted, " ++ show (arenaBytes arena - used) ++ " are free")
  -- All of it is inside the handler, so that an asynchronous exception finds nothing half done.
  (poke (arenaUsed arena) end *> action (castPtr (arenaStart arena `plusPtr` used)) <* free') `onException` free'
{-# INLINE reserve #-}

-- | C's memory with a C finaliser, which runs at some collection after the last use, or at the
-- program's end. The collector does not know how much memory it is: a program that adopts much and
-- allocates little in Haskell holds all of it meanwhile. 'finalizeForeignPtr' frees it at once. A null
-- pointer is 'Capstan.Exception.Unavailable'. Any thread.
adopt :: IO (Ptr a) -> FinalizerPtr a -> IO (ForeignPtr a)
adopt make free' = mask_ $ do
  result <- make
  when (result == nullPtr) (unavailable "Capstan.Binding.adopt: the function returned no memory")
  newForeignPtr free' result

-- | C's memory for one action, freed when that ends, also by an exception; the arguments are those of 'bracket'. A null pointer is 'Capstan.Exception.Unavailable'. Any thread.
withForeignResult :: IO (Ptr a) -> (Ptr a -> IO ()) -> (Ptr a -> IO b) -> IO b
withForeignResult make = bracket made
  where
    made = do
      result <- make
      when (result == nullPtr) (unavailable "Capstan.Binding.withForeignResult: the function returned no memory")
      pure result
