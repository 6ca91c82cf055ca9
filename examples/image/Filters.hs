-- | The filters of image.c for JuicyPixels' pictures. Neither the picture nor the result is copied: a
-- picture's pixels are a storable vector, and C works on that memory.
module Filters (Picture, Filter, blur, edges) where

import Capstan.Array (Array)
import qualified Capstan.Array as Array
import Codec.Picture (Image (..), PixelRGB8)
import Control.Monad (when)
import Data.Word (Word8)
import Foreign.C.Types (CInt (..), CLong (..))
import Foreign.Ptr (Ptr)

type Picture = Image PixelRGB8

type Filter = Picture -> IO Picture

foreign import ccall safe "image_blur"
  c_blur :: Ptr Word8 -> Ptr Word8 -> CLong -> CLong -> CLong -> IO CInt

foreign import ccall safe "image_edges"
  c_edges :: Ptr Word8 -> Ptr Word8 -> CLong -> CLong -> IO ()

-- | The mean of the square around each pixel; the radius is 0 to 512.
blur :: Int -> Filter
blur radius = filtered $ \from to width height -> do
  when (radius < 0 || radius > 512) $ ioError (userError "blur: the radius must be 0 to 512")
  code <- c_blur from to width height (fromIntegral radius)
  when (code /= 0) $ ioError (userError "blur: out of memory")

-- | The gradient of the brightness at each pixel.
edges :: Filter
edges = filtered c_edges

-- | Lends both pictures to C. C only reads the first, so the vector may serve as an array.
filtered :: (Ptr Word8 -> Ptr Word8 -> CLong -> CLong -> IO ()) -> Filter
filtered run (Image width height pixels) = do
  from <- Array.unsafeThaw pixels
  to <- Array.new Array.CacheLine (Array.length from) :: IO (Array Word8)
  Array.withPointer from $ \f -> Array.withPointer to $ \t ->
    run f t (fromIntegral width) (fromIntegral height)
  Image width height <$> Array.unsafeFreeze to
