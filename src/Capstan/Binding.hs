{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Binding
-- Description : Where the result of a C function lives: four ways, and what each costs.
-- Stability   : experimental
--
-- A C function that fills an array needs memory for it. The source of this memory often costs more
-- than the call itself. For example, the kernel may map a result of @malloc@ at each call, and a
-- finaliser frees it only when the collector runs. Choose from the top:
--
-- ['withArena', 'reserve'] Temporary results: each call uses the same memory again.
-- ['fresh'] A result that is kept, in pinned memory of GHC, which the collector frees. No
--   finaliser.
-- ['managed'] As 'fresh', but finalisers may be added.
-- ['adopt'] Memory that C allocates, with a C finaliser, which the collector runs.
--   'withForeignResult' is for a result that is used in one place: the memory is freed at the end
--   of an action.
--
-- @docs/bindings.md@ has the measured costs.
--
-- All functions throw an 'Capstan.Exception.InvalidArgument' if a size is negative, or exceeds the
-- address space when it is rounded up. GHC throws a 'Control.Exception.HeapOverflow' if there is not
-- so much memory.
--
-- > foreign import ccall unsafe "transform" c_transform :: Ptr Double -> Ptr Double -> CSize -> IO ()
-- >
-- > transform :: Int -> ForeignPtr Double -> IO (ForeignPtr Double)
-- > transform n input =
-- >   withForeignPtr input $ \from -> fresh n $ \to -> c_transform to from (fromIntegral n)
--
-- @since 0.1.0
module Capstan.Binding
  ( -- * Memory of GHC
    fresh,
    managed,

    -- * Memory that is used again
    Arena,
    withArena,
    reserve,

    -- * Memory of C
    adopt,
    withForeignResult,
  )
where

import Capstan.Exception (throwInvalid, throwUnavailable)
import Control.Exception (bracket, mask_, onException)
import Control.Monad (when)
import Foreign.ForeignPtr
import Foreign.Marshal.Alloc (allocaBytesAligned)
import Foreign.Ptr
import Foreign.Storable (Storable, peek, poke, sizeOf)
import GHC.ForeignPtr (mallocPlainForeignPtrBytes)
import GHC.Stack (HasCallStack)

-- | Memory for the given number of elements, which the function fills; it is not initialised
-- before. The memory is pinned, and the collector frees it. It has no bookkeeping for finalisers
-- ('addForeignPtrFinalizer' fails on it). The collector does not copy blocks of 3 KiB and more, but
-- counts them as allocation. With the default allocation area of 1 MiB, eight results of 128 KiB
-- cause a collection of the youngest generation. Any thread may call this.
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

-- | As 'fresh', but finalisers may be added. Any thread may call this.
managed :: forall a. (HasCallStack, Storable a) => Int -> (Ptr a -> IO ()) -> IO (ForeignPtr a)
managed n fill
  | n < 0 = negative "managed" "elements" n
  | tooMany (sizeOf (undefined :: a)) n = beyond "managed" n
  | otherwise = do
    result <- mallocForeignPtrArray n
    withForeignPtr result fill
    pure result

negative :: HasCallStack => String -> String -> Int -> IO a
negative name unit n = throwInvalid ("Capstan.Binding." ++ name ++ ": " ++ show n ++ " " ++ unit ++ "; there must be 0 or more")

-- | Whether @n@ elements of a size have more bytes than an 'Int' can count, with a page to spare.
tooMany :: Int -> Int -> Bool
tooMany size n = n > (maxBound - 4096) `quot` max 1 size
{-# INLINE tooMany #-}

beyond :: HasCallStack => String -> Int -> IO a
beyond name n = throwInvalid ("Capstan.Binding." ++ name ++ ": " ++ show n ++ " elements do not fit into memory")

-- | A stack of memory that exists while 'withArena' runs. One thread at a time may use it.
data Arena = Arena
  { -- | The address of the word that holds the offset of the free part.
    arenaUsed :: !(Ptr Int),
    arenaStart :: !(Ptr ()),
    arenaBytes :: !Int
  }

-- | Runs an action with an arena of the given number of bytes. The arena is one block, allocated
-- once, so its page faults happen at the first use only. Pointers into the arena are invalid when
-- the action has ended.
withArena :: HasCallStack => Int -> (Arena -> IO b) -> IO b
withArena size action
  | size < 0 = negative "withArena" "bytes" size
  | otherwise = allocaBytesAligned (line + size) line $ \block -> do
    poke (castPtr block) (0 :: Int)
    action (Arena (castPtr block) (block `plusPtr` line) size)

-- | The bytes of a cache line, to which reservations are aligned.
line :: Int
line = 64

-- | Memory for the given number of elements, aligned to 64 bytes and not initialised, until the
-- action ends. Then the memory is free for the next call, also after an exception. Reservations
-- nest. Throws 'Capstan.Exception.Unavailable' if the arena has too little room; it never allocates
-- more. Costs some nanoseconds.
reserve :: forall a b. (HasCallStack, Storable a) => Arena -> Int -> (Ptr a -> IO b) -> IO b
reserve arena n action = do
  used <- peek (arenaUsed arena)
  let size = sizeOf (undefined :: a)
      bytes = n * size
      -- The rounded end must not lie beyond the arena: then the free room would be negative, and a
      -- reservation of 0 bytes would fail, too.
      end = min (arenaBytes arena) (used + (bytes + line - 1) `div` line * line)
      free' = poke (arenaUsed arena) used
  when (n < 0) (negative "reserve" "elements" n)
  when (tooMany size n) (beyond "reserve" n)
  when (bytes > arenaBytes arena - used) $
    throwUnavailable ("Capstan.Binding.reserve: " ++ show bytes ++ " bytes are wanted, " ++ show (arenaBytes arena - used) ++ " are free")
  -- The first write is inside the handler too, so an asynchronous exception cannot leave it behind.
  (poke (arenaUsed arena) end *> action (castPtr (arenaStart arena `plusPtr` used)) <* free') `onException` free'
{-# INLINE reserve #-}

-- | Memory of C with a C finaliser, which runs at some collection after the last use, or at the end
-- of the program. The collector does not know the size of this memory. So a program that adopts
-- much memory and allocates little in Haskell keeps all of it until then. 'finalizeForeignPtr'
-- frees it at once. Throws 'Capstan.Exception.Unavailable' if the function returns a null pointer.
-- Any thread may call this.
adopt :: IO (Ptr a) -> FinalizerPtr a -> IO (ForeignPtr a)
adopt make free' = mask_ $ do
  result <- make
  when (result == nullPtr) (throwUnavailable "Capstan.Binding.adopt: the function returned no memory")
  newForeignPtr free' result

-- | Memory of C for one action, freed when the action ends, also by an exception. The arguments are
-- those of 'bracket'. Throws 'Capstan.Exception.Unavailable' if the function returns a null
-- pointer. Any thread may call this.
withForeignResult :: IO (Ptr a) -> (Ptr a -> IO ()) -> (Ptr a -> IO b) -> IO b
withForeignResult make = bracket made
  where
    made = do
      result <- make
      when (result == nullPtr) (throwUnavailable "Capstan.Binding.withForeignResult: the function returned no memory")
      pure result
