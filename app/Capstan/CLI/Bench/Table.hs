{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Table
-- Description : Tables of figures for people.
module Capstan.CLI.Bench.Table
  ( table,
    Align (..),
    figure,
    quantity,
    percent,
    ratioText,
    verdictText,
    resultsTable,
    paperTable,
    comparisonTable,
  )
where

import Capstan.CLI.Bench.Paper (Published (..), PublishedRow (..), bestHere, published)
import Capstan.CLI.Bench.Runtime (isOurs)
import Capstan.CLI.Bench.Statistics
import Capstan.CLI.Bench.Types
import Capstan.CLI.Style (Style)
import qualified Capstan.CLI.Style as Style
import Data.List (nub, transpose)
import Data.Text (Text)
import qualified Data.Text as Text
import Numeric (showFFloat)

data Align = ToLeft | ToRight

-- | A table with the narrowest columns that fit, two spaces apart. A cell is its text and a
-- function that adds colour.
table :: [Align] -> [[(Text, String -> String)]] -> String
table aligns cells = unlines (map line cells)
  where
    widths = map (maximum . map (Text.length . fst)) (transpose cells)
    line row = trimmed (concat (zipWith3 cell aligns widths row))
    cell align width (text, dress) = case align of
      ToLeft -> dress (Text.unpack text) ++ gap width text ++ "  "
      ToRight -> gap width text ++ dress (Text.unpack text) ++ "  "
    gap width text = replicate (width - Text.length text) ' '
    trimmed = reverse . dropWhile (== ' ') . reverse

-- | A number with three significant digits.
figure :: Double -> Text
figure x
  | x == 0 = "0"
  | abs x >= 100 = Text.pack (show (round x :: Integer))
  | abs x >= 10 = fixed 1
  | abs x >= 1 = fixed 2
  | abs x >= 0.01 = fixed 3
  | otherwise = fixed 4
  where
    fixed n = Text.pack (showFFloat (Just n) x "")

-- | A number with its unit. Times get the unit that fits their size.
quantity :: Text -> Double -> Text
quantity unit x = case lookup unit [("ns", 1), ("us", 1000), ("ms", 1000000)] of
  Nothing -> figure x <> " " <> unit
  Just scale -> time (x * scale)
  where
    time ns
      | abs ns < 1000 = figure ns <> " ns"
      | abs ns < 1000000 = figure (ns / 1000) <> " us"
      | abs ns < 1000000000 = figure (ns / 1000000) <> " ms"
      | otherwise = figure (ns / 1000000000) <> " s"

percent :: Double -> Text
percent x = Text.pack (show (round (100 * x) :: Int)) <> " %"

-- | @0.43 (0.41 to 0.46)@
ratioText :: Ratio -> Text
ratioText r = figure (ratioMiddle r) <> " (" <> figure (ratioLow r) <> " to " <> figure (ratioHigh r) <> ")"

verdictText :: Style -> Ratio -> (Text, String -> String)
verdictText style r = case verdict r of
  Faster -> ("less", Style.good style)
  Slower -> ("more", Style.bad style)
  NotShown -> ("in the noise", Style.faint style)
  TooFew -> ("too few rounds", Style.faint style)

-- | One line for each runtime of each case. Lines of Capstan have its ratios to the other runtimes.
resultsTable :: Style -> Results -> String
resultsTable style results = table aligns (headings : concatMap lines' groups)
  where
    aligns = [ToLeft, ToRight, ToLeft, ToRight, ToRight, ToRight, ToLeft, ToLeft, ToLeft, ToLeft]
    headings = [(h, Style.faint style) | h <- ["case", "threads", "runtime", "median", "min", "spread", "/ libgomp", "", "/ libomp", ""]]
    rows = resultsRows results
    groups = groupOn (\r -> (rowThreads r, rowCase r)) rows
    lines' group = zipWith (oneLine group) (True : repeat False) group
    oneLine group first row =
      [ (if first then rowCase row else "", Style.heading style),
        (if first then Text.pack (show (rowThreads row)) else "", id),
        (rowRuntime row, id)
      ]
        ++ figures row
        ++ against "libgomp" group row
        ++ against "libomp" group row
    figures row = case present row of
      [] -> [("failed", Style.bad style), ("", id), ("", id)]
      values ->
        [ (quantity (rowUnit row) (median values), id),
          (quantity (rowUnit row) (minimum values), Style.faint style),
          (percent (spread values), Style.faint style)
        ]
    against other group row
      | isOurs (rowRuntime row),
        Just peer <- lookup other [(rowRuntime r, r) | r <- group],
        Just r <- ratioPaired (rowValues row) (rowValues peer) =
        [(ratioText r, id), verdictText style r]
      | otherwise = [("", id), ("", id)]

-- | The published figures, and the best figures of each runtime here.
paperTable :: Style -> Results -> String
paperTable style results = concatMap one published
  where
    runtimes = nub (map rowRuntime (resultsRows results))
    one p =
      unlines ["", Style.heading style (Text.unpack (publishedTitle p)), Text.unpack (publishedNote p)]
        ++ table
          (ToLeft : ToRight : ToLeft : map (const ToRight) (publishedColumns p ++ runtimes))
          (headings p : map line (publishedRows p))
    headings p = [(h, Style.faint style) | h <- ["case", "threads", "unit"] ++ map ("published " <>) (publishedColumns p) ++ runtimes]
    line r =
      [(publishedCase r, Style.heading style), (Text.pack (show (publishedThreads r)), id), (publishedUnit r, id)]
        ++ [(maybe "" figure f, Style.faint style) | f <- publishedFigures r]
        ++ [(maybe "" figure (bestHere results r runtime), id) | runtime <- runtimes]

groupOn :: Eq k => (a -> k) -> [a] -> [[a]]
groupOn _ [] = []
groupOn key (x : xs) = (x : same) : groupOn key rest
  where
    (same, rest) = span ((== key x) . key) xs

-- | The changes since another run, in rows that both runs have.
comparisonTable :: Style -> [Row] -> [Row] -> String
comparisonTable style old new
  | null shown = "No difference shown in any of " ++ show (length both) ++ " rows.\n"
  | otherwise = table aligns (headings : map line shown) ++ show (length both - length shown) ++ " other rows: no difference shown.\n"
  where
    aligns = [ToLeft, ToRight, ToLeft, ToRight, ToRight, ToLeft, ToLeft]
    headings = [(h, Style.faint style) | h <- ["case", "threads", "runtime", "before", "now", "now / before", ""]]
    both =
      [ (n, o, r)
        | n <- new,
          Just o <- [lookup (rowKey n) [(rowKey o, o) | o <- old]],
          Just r <- [ratioUnpaired (present n) (present o)]
      ]
    shown = [entry | entry@(_, _, r) <- both, verdict r `elem` [Faster, Slower]]
    line (n, o, r) =
      [ (rowCase n, Style.heading style),
        (Text.pack (show (rowThreads n)), id),
        (rowRuntime n, id),
        (quantity (rowUnit n) (median (present o)), id),
        (quantity (rowUnit n) (median (present n)), id),
        (ratioText r, id),
        verdictText style r
      ]
