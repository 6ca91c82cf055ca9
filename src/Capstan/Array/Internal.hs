{-# LANGUAGE RoleAnnotations #-}
{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Array.Internal
-- Description : Shared arrays and their memory
module Capstan.Array.Internal
  ( Array (..),
    Alignment (..),
    newAligned,
    checkIndex,
    withPointer,
    unsafeWithPointer,
  )
where

import Capstan.Exception (throwInvalid, throwOutOfBounds)
import Control.Monad (when)
import Data.Primitive.ByteArray (MutableByteArray (MutableByteArray), mutableByteArrayContents, newAlignedPinnedByteArray, newPinnedByteArray)
import qualified Data.Vector.Storable.Mutable as Mutable
import Foreign.C.Types (CSize (CSize))
import Foreign.ForeignPtr (withForeignPtr)
import Foreign.Ptr (alignPtr)
import Foreign.Storable (Storable (sizeOf))
import qualified Foreign.Storable
import GHC.ForeignPtr (ForeignPtr (ForeignPtr), ForeignPtrContents (PlainPtr), unsafeWithForeignPtr)
import GHC.Ptr (Ptr (Ptr))
import GHC.Stack (HasCallStack)

-- | Elements of one type, in memory that neither moves nor is copied on its way to C and back. An
-- array is a mutable storable vector under another name, so conversions cost nothing.
--
-- Every thread that has the array, or a slice of it, sees the writes of other threads. This type
-- does not keep two threads from writing the same element at the same time; "Capstan.Array.Linear"
-- does.
newtype Array a = Array (Mutable.IOVector a)

type role Array nominal

-- | The alignment of the first element. Except with 'Element', the array also fills its last line
-- or page, so it shares none with other data. Threads that write different arrays then do not take
-- cache lines from each other.
data Alignment
  = -- | As the type of the elements needs.
    Element
  | -- | At the beginning of a cache line, 64 bytes.
    CacheLine
  | -- | At the beginning of a page, 4096 bytes.
    Page
  | -- | At a multiple of 2 MiB, with a request to the kernel for large pages. Meant for arrays of
    -- many MiB that are accessed at random. Costs up to 4 MiB more than the elements.
    HugePage
  deriving (Eq, Ord, Show, Enum, Bounded)

boundary :: Int -> Alignment -> Int
boundary element alignment = case alignment of
  Element -> element
  CacheLine -> max element 64
  Page -> max element 4096
  HugePage -> max element 2097152

foreign import ccall unsafe "cst_pages_prefer_large"
  preferLarge :: Ptr a -> CSize -> IO ()

-- | An array with the given number of elements, whose contents are undefined. Errors name the given
-- function.
--
-- The memory is one object of the collector, which never moves it, and frees it when no value
-- refers to the array any more. The array has no finaliser. So no finaliser can run too early, too
-- late, or at the program's end while C code still writes.
newAligned :: forall a. (HasCallStack, Storable a) => String -> Alignment -> Int -> IO (Array a)
newAligned function alignment count = do
  when (count < 0) . throwInvalid $
    function ++ ": " ++ show count ++ " elements; there must be 0 or more"
  when (count > (maxBound - 2 * unit) `div` max 1 size) . throwInvalid $
    function ++ ": " ++ show count ++ " elements do not fit into memory"
  memory@(MutableByteArray object) <-
    if unit <= block then newAlignedPinnedByteArray bytes unit else newPinnedByteArray (bytes + unit - 1)
  case mutableByteArrayContents memory `alignPtr` unit of
    start@(Ptr address) -> do
      when (alignment == HugePage) $ preferLarge start (fromIntegral bytes)
      pure . Array $ Mutable.MVector count (ForeignPtr address (PlainPtr object))
  where
    size = sizeOf (undefined :: a)
    unit = boundary (alignmentOf (undefined :: a)) alignment
    alignmentOf = Foreign.Storable.alignment
    bytes = if alignment == Element then count * size else (count * size + unit - 1) `div` unit * unit
    -- The size of GHC's blocks. The collector recognises a large object only by the first block of
    -- its memory. An object with a larger alignment begins in a later block: the collector would
    -- move it, and reuse its memory. So only the elements are aligned.
    block = 4096

-- | Throws an 'OutOfBounds' that names the function, if the index is not below the number of
-- elements or is negative.
checkIndex :: HasCallStack => String -> Int -> Int -> IO ()
checkIndex function index count
  | index >= 0 && index < count = pure ()
  | otherwise = outside function index count
{-# INLINE checkIndex #-}

outside :: HasCallStack => String -> Int -> Int -> IO ()
outside = throwOutOfBounds
{-# NOINLINE outside #-}

-- | Runs an action with the address of the first element. The array stays alive until the action
-- ends.
withPointer :: Array a -> (Ptr a -> IO b) -> IO b
withPointer (Array (Mutable.MVector _ memory)) = withForeignPtr memory
{-# INLINE withPointer #-}

-- | As 'withPointer', at no cost at all, for actions that end or throw. If GHC sees that the action
-- never ends, it may free the array during the action.
unsafeWithPointer :: Array a -> (Ptr a -> IO b) -> IO b
unsafeWithPointer (Array (Mutable.MVector _ memory)) = unsafeWithForeignPtr memory
{-# INLINE unsafeWithPointer #-}
