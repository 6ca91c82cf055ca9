{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Plot
-- Description : Three kinds of plots, as SVG: ratios and figures as dots, growth as lines.
--
-- All plots have logarithmic axes: a figure that is twice as large is as far to the right as a
-- figure that is half as large is to the left.
module Capstan.CLI.Bench.Plot
  ( -- * Ratios
    Dot (..),
    DotRow (..),
    dotPlot,

    -- * Figures
    Point (..),
    pointPlot,

    -- * Lines
    Series (..),
    LinePlot (..),
    linePlot,
  )
where

import Capstan.Bench.Markup
import Capstan.CLI.Bench.Statistics (Ratio (..))
import Capstan.CLI.Bench.Table (figure)
import Data.Maybe (fromMaybe)
import Data.Text (Text)
import qualified Data.Text as Text

-- | A ratio, the class that colours it, and the text that a resting pointer shows.
data Dot = Dot {dotClass :: Text, dotRatio :: Ratio, dotTip :: Text}

-- | A case: its name, its ratios, and the peer whose ratio is 1.
data DotRow = DotRow {dotName :: Text, dotUnity :: Text, dotDots :: [Dot]}

-- | A logarithmic scale from values to pixels.
data Scale = Scale {scaleFrom :: Double, scaleTo :: Double, scaleStart :: Double, scaleEnd :: Double}

at :: Scale -> Double -> Double
at s x = scaleStart s + (log (clip x) - log (scaleFrom s)) / (log (scaleTo s) - log (scaleFrom s)) * (scaleEnd s - scaleStart s)
  where
    clip = max (scaleFrom s) . min (scaleTo s)

-- | The ticks within the scale: 1, 2 and 5 times powers of ten, or only powers on a long scale.
ticks :: Scale -> [Double]
ticks s = [t | e <- [-6 .. 12 :: Int], m <- mantissas, let t = m * 10 ^^ e, t >= scaleFrom s * 0.999, t <= scaleTo s * 1.001]
  where
    decades = logBase 10 (scaleTo s / scaleFrom s)
    mantissas
      | decades > 3.2 = [1]
      | otherwise = [1, 2, 5]

label :: [Attribute] -> Double -> Double -> Text -> Node
label attributes x y words' = element "text" (["x" =. x, "y" =. y] ++ attributes) [text words']

line :: Text -> Double -> Double -> Double -> Double -> Node
line name x1 y1 x2 y2 = element "line" ["class" =: name, "x1" =. x1, "y1" =. y1, "x2" =. x2, "y2" =. y2] []

-- | A plot with a row for each case. The line in the middle is the peer whose ratio is 1.
dotPlot :: Text -> [DotRow] -> Node
dotPlot peer rows =
  element
    "svg"
    ["viewBox" =: ("0 0 1000 " <> Text.pack (show (ceiling height :: Int))), "role" =: "img", "class" =: "plot"]
    (concat [zipWith band [0 ..] rows, map grid (ticks scale), caption, concat (zipWith drawRow [0 ..] rows)])
  where
    top = 34
    step = 25
    bottom = top + step * fromIntegral (length rows)
    height = bottom + 28
    (left, right) = (215, 900)
    scale = Scale (min 0.45 (0.85 * low)) (max 2.2 (1.15 * high)) left right
    middles = [ratioMiddle (dotRatio d) | r <- rows, d <- dotDots r]
    low = max 0.001 (minimum (1 : middles))
    high = min 1000 (maximum (1 : middles))
    band i _ = element "rect" ["class" =: (if even (i :: Int) then "band" else "gap"), "x" =. 0, "y" =. (top + step * fromIntegral i), "width" =. 1000, "height" =. step] []
    grid t =
      element
        "g"
        []
        [ line (if t == 1 then "one" else "grid") (at scale t) top (at scale t) bottom,
          label ["class" =: "tick", "text-anchor" =: "middle"] (at scale t) (bottom + 17) (if t == 1 then peer else figureShort t)
        ]
    caption =
      [ label ["class" =: "side"] left 20 "\x2190 less time",
        label ["class" =: "side", "text-anchor" =: "end"] right 20 "more time \x2192",
        label ["class" =: "side", "text-anchor" =: "end"] 992 20 (peer <> " =")
      ]
    drawRow i r =
      label ["class" =: "case", "text-anchor" =: "end"] (left - 14) (middle + 4) (dotName r) :
      label ["class" =: "unity", "text-anchor" =: "end"] 992 (middle + 4) (dotUnity r) :
      zipWith (dot middle (length (dotDots r))) [0 ..] (dotDots r)
      where
        middle = top + step * (fromIntegral (i :: Int) + 0.5)
    dot middle count i d =
      element
        "g"
        ["class" =: dotClass d]
        [ element "title" [] [text (dotTip d)],
          line "whisker" (at scale (ratioLow r)) y (at scale (ratioHigh r)) y,
          element "circle" ["cx" =. at scale (ratioMiddle r), "cy" =. y, "r" =. 4.4] []
        ]
      where
        r = dotRatio d
        y = middle + 7 * (fromIntegral (i :: Int) - fromIntegral (count - 1) / 2)

figureShort :: Double -> Text
figureShort t
  | t >= 1000000 = clean (figure (t / 1000000)) <> "M"
  | t >= 1000 = clean (figure (t / 1000)) <> "k"
  | otherwise = clean (figure t)
  where
    clean words'
      | "." `Text.isInfixOf` words' = Text.dropWhileEnd (== '.') (Text.dropWhileEnd (== '0') words')
      | otherwise = words'

-- | The figure of a series, which has a name and a class that colours it.
data Point = Point {pointName :: Text, pointClass :: Text, pointFigure :: Double}

-- | A plot with a row for each case, and a dot for each series. The first argument has the names
-- and classes of the series. Zero is at the left edge.
pointPlot :: Text -> [(Text, Text)] -> [(Text, [Point])] -> Node
pointPlot unit series rows =
  element
    "svg"
    ["viewBox" =: ("0 0 1000 " <> Text.pack (show (ceiling (bottom + 28) :: Int))), "role" =: "img", "class" =: "plot"]
    (concat [zipWith band [0 ..] rows, map grid (ticks scale), names, concat (zipWith drawRow [0 ..] rows)])
  where
    (top, left, right) = (34, 215, 960)
    step = 11 + 7 * fromIntegral (maximum (2 : map (length . snd) rows))
    bottom = top + step * fromIntegral (length rows)
    figures = [pointFigure d | (_, ds) <- rows, d <- ds, pointFigure d > 0]
    scale = Scale (0.5 * minimum (1 : figures)) (1.3 * maximum (1 : figures)) left right
    band i _ = element "rect" ["class" =: (if even (i :: Int) then "band" else "gap"), "x" =. 0, "y" =. (top + step * fromIntegral i), "width" =. 1000, "height" =. step] []
    grid t =
      element
        "g"
        []
        [ line "grid" (at scale t) top (at scale t) bottom,
          label ["class" =: "tick", "text-anchor" =: "middle"] (at scale t) (bottom + 17) (figureShort t <> " " <> unit)
        ]
    -- The legend of colours, above the rows.
    names = [element "g" ["class" =: c] [circle x 16, label ["class" =: "name"] (x + 10) 20 n] | (x, (n, c)) <- zip (scanl (+) left [34 + nameWidth n | (n, _) <- series]) series]
    drawRow i (name, ds) =
      label ["class" =: "case", "text-anchor" =: "end"] (left - 14) (middle + 4) name :
        [ element "g" ["class" =: pointClass d] [element "title" [] [text (pointName d <> ": " <> figure (pointFigure d) <> " " <> unit)], circle (at scale (pointFigure d)) y]
          | (k, d) <- zip [0 :: Int ..] ds,
            let y = middle + 7 * (fromIntegral k - fromIntegral (length ds - 1) / 2)
        ]
      where
        middle = top + step * (fromIntegral (i :: Int) + 0.5)
    circle x y = element "circle" ["cx" =. x, "cy" =. y, "r" =. 4.4] []

-- | The approximate width of a drawn name.
nameWidth :: Text -> Double
nameWidth name = 7.6 * fromIntegral (Text.length name)

-- | A name, the class that colours it, and its points.
data Series = Series {seriesName :: Text, seriesClass :: Text, seriesPoints :: [(Double, Double)]}

data LinePlot = LinePlot
  { plotTitle :: Text,
    plotAcross :: Text,
    plotUp :: Text,
    plotSize :: (Double, Double),
    -- | Whether lines are named at their ends.
    plotNamed :: Bool,
    -- | Heights that the plot must include, so that plots beside each other have the same range.
    plotRange :: [Double],
    plotSeries :: [Series]
  }

linePlot :: LinePlot -> Node
linePlot p =
  element
    "svg"
    ["viewBox" =: Text.unwords ["0", "0", number width, number height], "role" =: "img", "class" =: "plot lines"]
    (title : map across xs ++ map up (ticks vertical) ++ names ++ concatMap series (plotSeries p))
  where
    (width, height) = plotSize p
    number = Text.pack . show . (round :: Double -> Int)
    (left, right) = (52, width - (if plotNamed p then 16 + maximum (0 : map (nameWidth . seriesName) (plotSeries p)) else 16))
    (top, bottom) = (32, height - 38)
    points = concatMap seriesPoints (plotSeries p)
    xs = dedupe (map fst points)
    horizontal = Scale (minimum xs) (max (1.01 * minimum xs) (maximum xs)) left right
    heights = plotRange p ++ map snd points
    vertical = Scale (0.8 * minimum heights) (1.25 * maximum heights) bottom top
    title = label ["class" =: "title"] left 18 (plotTitle p)
    across x =
      element
        "g"
        []
        [ line "grid" (at horizontal x) top (at horizontal x) bottom,
          label ["class" =: "tick", "text-anchor" =: "middle"] (at horizontal x) (bottom + 15) (figureShort x)
        ]
    up y =
      element
        "g"
        []
        [ line "grid" left (at vertical y) right (at vertical y),
          label ["class" =: "tick", "text-anchor" =: "end"] (left - 6) (at vertical y + 4) (figureShort y)
        ]
    names =
      [ label ["class" =: "side", "text-anchor" =: "middle"] ((left + right) / 2) (height - 6) (plotAcross p),
        label ["class" =: "side", "text-anchor" =: "end"] (width - 2) 18 (plotUp p)
      ]
    series s =
      [ element
          "g"
          ["class" =: seriesClass s]
          ( element "polyline" ["points" =: Text.unwords [point x y | (x, y) <- seriesPoints s]] [] :
            [ element "circle" ["cx" =. at horizontal x, "cy" =. at vertical y, "r" =. 3] [element "title" [] [text (seriesName s <> ": " <> figure y)]]
              | (x, y) <- seriesPoints s
            ]
              ++ [label ["class" =: "name"] (right + 10) (nameHeight s) (seriesName s) | plotNamed p, not (null (seriesPoints s))]
          )
      ]
    point x y = coordinate (at horizontal x) <> "," <> coordinate (at vertical y)
    coordinate v = snd ("" =. v)
    -- Names at the ends of their lines, moved apart if they would overlap.
    nameHeight s = fromMaybe 0 (lookup (seriesName s) placed)
    placed = spreadOut (sortOn' snd [(seriesName s, at vertical (snd (last (seriesPoints s))) + 4) | s <- plotSeries p, not (null (seriesPoints s))])
    spreadOut ((n, y) : (m, z) : rest) = (n, y) : spreadOut ((m, max z (y + 14)) : rest)
    spreadOut rest = rest
    sortOn' f = foldr insert []
      where
        insert e es = takeWhile ((< f e) . f) es ++ e : dropWhile ((< f e) . f) es

dedupe :: [Double] -> [Double]
dedupe = foldr insert []
  where
    insert x ys = takeWhile (< x) ys ++ x : dropWhile (<= x) ys
