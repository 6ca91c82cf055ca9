{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.PaperPlots
-- Description : The published tables as plots, with a line for each runtime here.
--
-- Rows whose cases differ in a number alone are one plot, by that number; those of one case are one
-- by the number of threads. Both axes are logarithmic: different machines then differ in height alone.
module Capstan.CLI.Bench.PaperPlots
  ( paperPlots,
  )
where

import Capstan.Bench.Markup
import Capstan.CLI.Bench.Paper
import Capstan.CLI.Bench.Plot
import Capstan.CLI.Bench.Types (Results (..), rowRuntime)
import Data.Char (isDigit)
import Data.List (nub, sortOn)
import Data.Maybe (mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text

-- | A row of a table, and where it stands in a plot.
data Place = Place {placePlot :: Text, placeAcross :: Text, placeX :: Double, placeRow :: PublishedRow}

-- | None for a table that has no row of numbers.
paperPlots :: Results -> Published -> [Node]
paperPlots results table' = [element "div" ["class" =: "facets wide"] plots | not (null plots)]
  where
    rows = publishedRows table'
    places = map (place (map publishedCase rows)) rows
    plots = mapMaybe (plotOf results (publishedColumns table') places) (nub (map placePlot places))

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

plotOf :: Results -> [Text] -> [Place] -> Text -> Maybe Node
plotOf results columns places name = case filter (not . null . drop 1 . seriesPoints) (zipWith published' [0 ..] columns ++ map here runtimes) of
  [] -> Nothing
  series -> Just (linePlot (LinePlot name across unit (490, 260) True series))
  where
    mine = sortOn placeX (filter ((== name) . placePlot) places)
    across = Text.concat (take 1 (map placeAcross mine))
    unit = Text.concat (take 1 (map (publishedUnit . placeRow) mine))
    runtimes = nub (map rowRuntime (resultsRows results))
    published' i column = Series column (if i == (0 :: Int) then "central" else "timed") (points (\row -> publishedFigures row !! i))
    here runtime = Series runtime runtime (points (\row -> bestHere results row runtime))
    points figureOf = [(placeX p, y) | p <- mine, Just y <- [figureOf (placeRow p)], y > 0]
