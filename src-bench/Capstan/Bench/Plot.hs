{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Plot
-- Description : Two plots, as SVG: all benchmarks on one axis, and the samples of one benchmark.
module Capstan.Bench.Plot
  ( Strip (..),
    strips,
    samplesPlot,
  )
where

import Capstan.Bench.Advice (duration)
import Capstan.Bench.Markup
import Data.Text (Text)
import qualified Data.Text as Text
import qualified Data.Vector.Unboxed as U
import Statistics.Sample.KernelDensity (kde)

-- | A benchmark: its figures alone, and after others.
data Strip = Strip Text [Double] [Double]

-- | One row for each benchmark, on a common logarithmic axis.
strips :: [Strip] -> Node
strips rows
  | null values = element "p" [] [text "Nothing was measured."]
  | otherwise = svg 1000 (bottom + 24) (zipWith band [0 ..] rows ++ map tick (ticks low high) ++ concat (zipWith row [0 ..] rows))
  where
    values = filter (> 0) (concat [a ++ b | Strip _ a b <- rows])
    (low, high) = (0.8 * minimum values, 1.25 * maximum values)
    (left, right, top, step) = (240, 985, 6, 24)
    bottom = top + step * fromIntegral (length rows)
    x v = left + (right - left) * (log v - log low) / (log high - log low)
    band i _ = element "rect" ["class" =: "band", "x" =. 0, "y" =. (top + step * fromIntegral (i :: Int)), "width" =. 1000, "height" =. (if even i then step else 0)] []
    tick v = element "g" [] [vertical (x v) top bottom, label "middle" "tick" (x v) (bottom + 16) (shortDuration v)]
    row i (Strip name alone after) =
      label "end" "name" (left - 14) (y + 4) (fitting name) :
      [dot "alone" 4.5 (x v) y v | v <- alone, v > 0] ++ [dot "after" 5.5 (x v) y v | v <- after, v > 0]
      where
        y = top + step * (fromIntegral (i :: Int) + 0.5)

-- | A name cut to the room beside a row. The end of a name is kept, as it differs most.
fitting :: Text -> Text
fitting name
  | Text.length name <= 34 = name
  | otherwise = "…" <> Text.takeEnd 33 name

-- | The time per call of the samples of several processes, with their density. The axis fits the
-- samples, and need not begin at 0.
samplesPlot :: [[Double]] -> Node
samplesPlot processes
  | length values < 2 = element "p" [] [text "Too few samples to plot."]
  | otherwise = svg 320 150 (map tick levels ++ density : [dot ("p" <> Text.pack (show (p `mod` 5 :: Int))) 2.6 (x i) (y v) v | (i, (p, v)) <- zip [0 :: Int ..] numbered])
  where
    numbered = [(p, v) | (p, vs) <- zip [0 ..] processes, v <- vs]
    values = map snd numbered
    spread = max (maximum values - minimum values) (0.04 * maximum values)
    centre = (maximum values + minimum values) / 2
    (low, high) = (centre - 0.6 * spread, centre + 0.6 * spread)
    (left, right, top, bottom) = (58, 250, 6, 142)
    x i = left + 6 + (right - left - 12) * fromIntegral i / fromIntegral (max 1 (length values - 1))
    y v = bottom - (bottom - top) * (v - low) / (high - low)
    levels = [low + (high - low) * f | f <- [0.1, 0.5, 0.9]]
    tick v = element "g" [] [element "line" ["class" =: "grid", "x1" =. left, "x2" =. 318, "y1" =. y v, "y2" =. y v] [], label "end" "tick" (left - 6) (y v + 4) (shortDuration v)]
    density = element "path" ["class" =: "density", "d" =: ("M" <> Text.unwords ([at (right + 8) bottom'] ++ [at (right + 8 + 56 * p / peak) (y v) | (v, p) <- curve] ++ [at (right + 8) top', "Z"]))] []
    curve = [(v, p) | let (vs, ps) = kde 64 (U.fromList values), (v, p) <- U.toList (U.zip vs ps), v >= low, v <= high]
    peak = maximum (1e-300 : map snd curve)
    (bottom', top') = case map (y . fst) curve of
      [] -> (bottom, top)
      ends@(first : _) -> (first, last ends)
    at a b = snd ("" =. a) <> "," <> snd ("" =. b)

svg :: Double -> Double -> [Node] -> Node
svg width height = element "svg" ["viewBox" =: Text.unwords ["0", "0", whole width, whole height], "role" =: "img"]
  where
    whole = Text.pack . show . (ceiling :: Double -> Int)

dot :: Text -> Double -> Double -> Double -> Double -> Node
dot name radius x y v = element "circle" ["class" =: name, "cx" =. x, "cy" =. y, "r" =. radius] [element "title" [] [text (duration v)]]

vertical :: Double -> Double -> Double -> Node
vertical x top bottom = element "line" ["class" =: "grid", "x1" =. x, "x2" =. x, "y1" =. top, "y2" =. bottom] []

label :: Text -> Text -> Double -> Double -> Text -> Node
label anchor name x y content = element "text" ["class" =: name, "text-anchor" =: anchor, "x" =. x, "y" =. y] [text content]

-- | The ticks of an axis: 1, 2 and 5 times powers of ten, only powers on a long axis, and more
-- ticks on a short axis.
ticks :: Double -> Double -> [Double]
ticks low high = [t | e <- [-12 .. 4 :: Int], m <- mantissas, let t = m * 10 ^^ e, t >= low, t <= high]
  where
    mantissas
      | high / low > 2000 = [1]
      | high / low < 2.5 = [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9]
      | high / low < 8 = [1, 1.5, 2, 3, 4, 5, 7]
      | otherwise = [1, 2, 5]

-- | A duration with at most three digits, without zeros at the end.
shortDuration :: Double -> Text
shortDuration v = case Text.words (duration v) of
  [figure, unit] -> withoutZeros (Text.take (if Text.any (== '.') (Text.take 3 figure) then 4 else 3) figure) <> " " <> unit
  _ -> duration v
  where
    withoutZeros figure
      | Text.any (== '.') figure = Text.dropWhileEnd (== '.') (Text.dropWhileEnd (== '0') figure)
      | otherwise = figure
