-- | Filters pictures by OpenMP code in C, on memory that Haskell and C share.
--
-- > image blur RADIUS FROM TO.png
-- > image edges FROM TO.png
-- > image check
module Main (main) where

import Codec.Picture (PixelRGB8 (..), convertRGB8, generateImage, imageData, imageHeight, imageWidth, readImage, writePng)
import Control.Monad (forM_, when)
import Filters
import GHC.Clock (getMonotonicTime)
import Reference (blurred, edged)
import System.Environment (getArgs)
import System.Exit (die)
import Text.Printf (printf)
import Text.Read (readMaybe)

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    ["blur", text, from, to] | Just radius <- readMaybe text -> convert (blur radius) from to
    ["edges", from, to] -> convert edges from to
    ["check"] -> check
    _ -> die "usage: image blur RADIUS FROM TO.png | image edges FROM TO.png | image check"

-- | Converts a picture in any format that JuicyPixels reads; the result is a PNG file.
convert :: Filter -> FilePath -> FilePath -> IO ()
convert run from to = do
  picture <- readImage from >>= either die (pure . convertRGB8)
  start <- getMonotonicTime
  result <- run picture
  end <- getMonotonicTime
  writePng to result
  printf "%d x %d pixels in %.1f ms\n" (imageWidth result) (imageHeight result) (1000 * (end - start))

-- | Checks both filters against their definitions, on pictures of awkward sizes.
check :: IO ()
check = do
  forM_ [(1, 1), (7, 1), (1, 5), (64, 48), (131, 17)] $ \(width, height) -> do
    let picture = generateImage noise width height
    forM_ [0, 1, 3, 9] $ \radius -> compareWith ("blur " ++ show radius) (blur radius) (blurred radius) picture
    compareWith "edges" edges edged picture
  putStrLn "all pictures are equal"

compareWith :: String -> Filter -> (Picture -> Picture) -> Picture -> IO ()
compareWith name run define picture = do
  result <- run picture
  when (imageData result /= imageData (define picture)) . die $
    name ++ " of " ++ show (imageWidth picture) ++ " x " ++ show (imageHeight picture) ++ " pixels differs"

noise :: Int -> Int -> PixelRGB8
noise x y = PixelRGB8 (shade 7919) (shade 104729) (shade 1299709)
  where
    shade k = fromIntegral ((x * x * k + y * 31 * k + x * y) `div` 64)
