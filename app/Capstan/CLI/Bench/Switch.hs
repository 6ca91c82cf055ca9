{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Switch
-- Description : The gain of a heuristic of waiting: a case with the heuristic on, and with it off.
--
-- Both are cases of one suite, whose names end with the value of @CAPSTAN_WAIT@ under which they were measured.
module Capstan.CLI.Bench.Switch
  ( switched,
    under,
    switchTable,
  )
where

import Capstan.CLI.Bench.Statistics
import Capstan.CLI.Bench.Table (Align (..), percent, quantity, ratioText, table)
import Capstan.CLI.Bench.Types
import Capstan.CLI.Style (Style)
import qualified Capstan.CLI.Style as Style
import Data.List (find)
import Data.Maybe (mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text

-- | The value of @CAPSTAN_WAIT@ that switches these heuristics on, or off.
switched :: [Text] -> Bool -> Text
switched names on = Text.intercalate "," [name <> (if on then ":on" else ":off") | name <- names]

-- | The name of a case that was measured under this setting.
under :: Text -> Text -> Text
under name setting = name <> " " <> setting

-- | The case of such a name, and its heuristics if they are on; 'Nothing' if they are off.
switchedOn :: Row -> Maybe (Text, [Text])
switchedOn row = case Text.words (rowCase row) of
  [name, setting] -> (,) name <$> mapM (Text.stripSuffix ":on") (Text.splitOn "," setting)
  _ -> Nothing

-- | A line for each case: the figures with the heuristic on and off, and the ratio of off to on.
switchTable :: Style -> Results -> String
switchTable style results = table aligns (headings : mapMaybe line (resultsRows results))
  where
    aligns = [ToLeft, ToLeft, ToRight, ToLeft, ToRight, ToRight, ToRight, ToRight, ToLeft, ToLeft]
    headings = [(h, Style.faint style) | h <- ["heuristic", "case", "threads", "runtime", "on", "spread", "off", "spread", "off / on", ""]]
    line on = do
      (name, heuristics) <- switchedOn on
      off <- find (\r -> rowKey r == rowKey on {rowCase = name `under` switched heuristics False}) (resultsRows results)
      pure $
        [ (Text.intercalate ", " heuristics, Style.heading style),
          (name, id),
          (Text.pack (show (rowThreads on)), id),
          (rowRuntime on, id)
        ]
          ++ figures on
          ++ figures off
          ++ maybe [("", id), ("", id)] gain (ratioPaired (rowValues off) (rowValues on))
    figures row = case present row of
      [] -> [("failed", Style.bad style), ("", id)]
      values -> [(quantity (rowUnit row) (median values), id), (percent (spread values), Style.faint style)]
    gain r = [(ratioText r, id), verdictOf r]
    verdictOf r = case verdict r of
      Slower -> ("gains", Style.good style)
      Faster -> ("loses", Style.bad style)
      NotShown -> ("in the noise", Style.faint style)
      TooFew -> ("too few rounds", Style.faint style)
