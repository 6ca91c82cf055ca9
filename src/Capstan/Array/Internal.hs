{-# LANGUAGE RoleAnnotations #-}
{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Array.Internal
-- Description : What a shared array is, and where its memory comes from
module Capstan.Array.Internal
  ( Array (..),
    Alignment (..),
    newAligned,
    checkIndex,
    withPointer,
    unsafeWithPointer,
  )
where

import Capstan.Exception.Internal (invalid, outOfBounds)
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

-- | Elements of one type, in memory that neither moves nor is copied on its way to C and back. It is a
-- mutable storable vector by another name, so it costs nothing to see it as one.
--
-- Shared means shared: whoever has the array, or a slice of it, sees what others write. Nothing keeps
-- two threads from writing the same element at once; "Capstan.Array.Linear" does.
newtype Array a = Array (Mutable.IOVector a)

type role Array nominal

-- | Where the first element is to lie. With all but 'Element', the array also fills its last line or
-- page, so that it shares none with other data: threads that write different arrays then do not take
-- cache lines from each other.
data Alignment
  = -- | As its type needs.
    Element
  | -- | At the begin of a cache line, 64 bytes.
    CacheLine
  | -- | At the begin of a page, 4096 bytes.
    Page
  | -- | At the begin of 2 MiB, with the wish that the kernel uses large pages: for arrays of many
    -- MiB that are used at random. Costs up to 4 MiB more than the elements.
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

-- | An array of so many elements, whose contents are undefined. What is wrong is said by the name of the function.
--
-- The memory is the collector's: an object of its own that it never moves, and frees when nothing
-- refers to the array any more. Nothing has a finaliser, so none can run too early, too late or at
-- the program's end beside C code that still writes.
newAligned :: forall a. (HasCallStack, Storable a) => String -> Alignment -> Int -> IO (Array a)
newAligned function alignment count = do
  when (count < 0) . invalid $
    function ++ ": " ++ show count ++ " elements; there must be 0 or more"
  when (count > (maxBound - 2 * unit) `div` max 1 size) . invalid $
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
    -- GHC's. The collector knows a large object by the first block of its memory alone. One that is aligned to more begins
    -- in a later block: it would be moved, and its memory given to others. So only its elements are aligned.
    block = 4096

-- | An exception, if there is no element with that index among so many, that names the function.
checkIndex :: HasCallStack => String -> Int -> Int -> IO ()
checkIndex function index count
  | index >= 0 && index < count = pure ()
  | otherwise = outside function index count
{-# INLINE checkIndex #-}

outside :: HasCallStack => String -> Int -> Int -> IO ()
outside = outOfBounds
{-# NOINLINE outside #-}

-- | Where the elements are. The memory is kept until the action is over.
withPointer :: Array a -> (Ptr a -> IO b) -> IO b
withPointer (Array (Mutable.MVector _ memory)) = withForeignPtr memory
{-# INLINE withPointer #-}

-- | The same at no cost at all, for actions that come to an end or throw: the compiler may forget an
-- array whose action it knows to go on for ever.
unsafeWithPointer :: Array a -> (Ptr a -> IO b) -> IO b
unsafeWithPointer (Array (Mutable.MVector _ memory)) = unsafeWithForeignPtr memory
{-# INLINE unsafeWithPointer #-}
