-- | The definitions of the filters: slow, pure, and without C.
module Reference (blurred, edged) where

import Codec.Picture (PixelRGB8 (..), generateImage, imageHeight, imageWidth, pixelAt)
import Data.Word (Word8)
import Filters (Picture)

-- | The pixel at a place, or the nearest pixel of the picture.
at :: Picture -> Int -> Int -> PixelRGB8
at picture x y = pixelAt picture (within x (imageWidth picture)) (within y (imageHeight picture))
  where
    within i count = max 0 (min (count - 1) i)

blurred :: Int -> Picture -> Picture
blurred radius picture = generateImage pixel (imageWidth picture) (imageHeight picture)
  where
    pixel x y =
      let square = [at picture i j | j <- [y - radius .. y + radius], i <- [x - radius .. x + radius]]
          mean channel = fromIntegral (sum (map (fromIntegral . channel) square) `div` length square)
       in PixelRGB8 (mean red) (mean green) (mean blue)

edged :: Picture -> Picture
edged picture = generateImage pixel (imageWidth picture) (imageHeight picture)
  where
    pixel x y = let s = fromIntegral (min 255 (steepness x y)) in PixelRGB8 s s s
    steepness x y =
      let across = sum [w * (bright (x + 1) (y + i) - bright (x - 1) (y + i)) | (i, w) <- weights]
          down = sum [w * (bright (x + i) (y + 1) - bright (x + i) (y - 1)) | (i, w) <- weights]
       in abs across + abs down
    weights = [(-1, 1), (0, 2), (1, 1)]
    bright x y =
      let p = at picture x y
       in (77 * number (red p) + 150 * number (green p) + 29 * number (blue p)) `div` 256

number :: Word8 -> Int
number = fromIntegral

red, green, blue :: PixelRGB8 -> Word8
red (PixelRGB8 r _ _) = r
green (PixelRGB8 _ g _) = g
blue (PixelRGB8 _ _ b) = b
