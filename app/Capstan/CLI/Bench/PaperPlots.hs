{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.PaperPlots
-- Description : The published tables as plots, beside the runtimes here.
--
-- Rows whose cases differ only in a number are of one kind, with that number on the axis. Rows of
-- one case are of one kind, with the number of threads on the axis. A kind is a plot with a line
-- for each column, or a line in the plot of each column. Both axes are logarithmic, so different
-- machines differ only in height. Kinds with one row are rows of dots.
module Capstan.CLI.Bench.PaperPlots
  ( paperPlots,
  )
where

import Capstan.Bench.Markup
import Capstan.CLI.Bench.Paper
import Capstan.CLI.Bench.Plot
import Capstan.CLI.Bench.Types (Results (..), rowRuntime)
import Data.Char (isDigit)
import Data.List (nub, partition, sortOn)
import Data.Text (Text)
import qualified Data.Text as Text

-- | A row of a table: its kind, the name of the axis, and its place there.
data Place = Place {placeKind :: Text, placeAcross :: Text, placeX :: Double, placeRow :: PublishedRow}

-- | A published column, or a runtime here: its name, its class, and its figure in a row.
data Column = Column {columnName :: Text, columnClass :: Text, columnFigure :: PublishedRow -> Maybe Double}

paperPlots :: Results -> Published -> [Node]
paperPlots results table' =
  [element "div" ["class" =: "facets wide"] plots | not (null plots)]
    ++ [pointPlot (unitOf single) [(columnName c, columnClass c) | c <- columns, not (null (dotRows [c] single))] rows | let rows = dotRows columns single, not (null rows)]
  where
    places = map (place (map publishedCase (publishedRows table'))) (publishedRows table')
    (single, several) = partition (\p -> length (nub [placeX q | q <- places, placeKind q == placeKind p]) == 1) places
    columns = columnsOf results table'
    kinds = [[p | p <- several, placeKind p == kind] | kind <- nub (map placeKind several)]
    plots = case publishedFacets table' of
      OfCases -> concatMap (plotOfKind columns) kinds
      OfColumns -> concatMap (plotOfColumn columns kinds) columns

columnsOf :: Results -> Published -> [Column]
columnsOf results table' =
  [ Column (if name == "libgomp" then "libgomp, published" else name) (colour name <> " published") (\row -> publishedFigures row !! i)
    | (i, name) <- zip [0 ..] (publishedColumns table')
  ]
    ++ [Column runtime runtime (\row -> bestHere results row runtime) | runtime <- nub (map rowRuntime (resultsRows results))]
  where
    colour name = case name of
      "libgomp" -> "libgomp"
      _ | any (`Text.isSuffixOf` name) ["LLVM", "batched", "second set"] -> "timed"
      _ -> "ghc"

place :: [Text] -> PublishedRow -> Place
place cases row
  | Text.null digits || Text.null start || length (filter (== name) cases) > 1 = Place name "threads" (fromIntegral (publishedThreads row)) row
  | otherwise = Place (start <> word) "size" (read (Text.unpack digits)) row
  where
    name = publishedCase row
    -- The number at the end, or before a word at the end (tasks-100-parallel).
    (end, word) = case Text.breakOnEnd "-" name of
      (before, after) | Text.any (not . isDigit) after -> (Text.dropEnd 1 before, "-" <> after)
      _ -> (name, "")
    digits = Text.takeWhileEnd isDigit end
    start = Text.dropWhileEnd (== '-') (Text.dropEnd (Text.length digits) end)

-- | The plot of a kind, with a line for each column.
plotOfKind :: [Column] -> [Place] -> [Node]
plotOfKind columns places =
  [ linePlot (LinePlot (kindOf places) (acrossOf places) (unitOf places) size True [] series)
    | let series = [Series (columnName c) (columnClass c) (points c places) | c <- columns, not (null (points c places))],
      not (null series)
  ]

-- | The plot of a column, with a line for each kind. All plots of a table have the same range of
-- heights.
plotOfColumn :: [Column] -> [[Place]] -> Column -> [Node]
plotOfColumn columns kinds column =
  [ linePlot (LinePlot title (acrossOf (concat kinds)) (unitOf (concat kinds)) size True range series)
    | let series = [Series way (wayClass way <> (if isPublished then " published" else "")) ps | places <- kinds, let way = Text.takeWhileEnd (/= '-') (kindOf places), let ps = points column places, not (null ps)],
      not (null series)
  ]
  where
    isPublished = "published" `Text.isSuffixOf` columnClass column
    title = (if isPublished then "published: " else "here: ") <> columnName column
    range = [y | c <- columns, places <- kinds, (_, y) <- points c places]
    wayClass way = case way of
      "parallel" -> "ghc"
      "openmp" -> "libomp"
      _ -> way

-- | A row for each case that has figures.
dotRows :: [Column] -> [Place] -> [(Text, [Point])]
dotRows columns places =
  [ (placeKind p, dots)
    | p <- places,
      let dots = [Point (columnName c) (columnClass c) y | c <- columns, Just y <- [columnFigure c (placeRow p)]],
      not (null dots)
  ]

size :: (Double, Double)
size = (490, 260)

points :: Column -> [Place] -> [(Double, Double)]
points column places = [(placeX p, y) | p <- sortOn placeX places, Just y <- [columnFigure column (placeRow p)], y > 0]

-- | The kind, the axis and the unit that places have in common.
kindOf, acrossOf, unitOf :: [Place] -> Text
kindOf = Text.concat . take 1 . map placeKind
acrossOf = Text.concat . take 1 . map placeAcross
unitOf = Text.concat . take 1 . map (publishedUnit . placeRow)
