{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Baseline
-- Description : The comparison with an earlier run.
module Capstan.Bench.Baseline
  ( Change (..),
    Verdict (..),
    changes,
    changeText,
  )
where

import Capstan.Bench.Advice (duration, percent)
import Capstan.Bench.Diagnose (trials, typical)
import Capstan.Bench.Evidence
import Capstan.Bench.Visible (visibleText)
import Data.Text (Text)
import qualified Data.Text as Text

data Verdict = Slower | Faster | Same | New | Gone
  deriving (Eq, Show)

-- | A benchmark in the earlier and in the present run, in seconds per call. A figure is missing if
-- the benchmark was not run.
data Change = Change
  { changeName :: Text,
    changeThen :: Maybe Double,
    changeNow :: Maybe Double,
    changeVerdict :: Verdict
  }
  deriving (Eq, Show)

-- | The changes between two runs. A benchmark is slower (or faster) if the difference exceeds the
-- tolerance, and if all processes show it.
changes :: Double -> Session -> Session -> [Change]
changes tolerance old new =
  [change name (find name old) (find name new) | name <- map accountName (sessionAccounts new)]
    ++ [change name (Just a) Nothing | a <- sessionAccounts old, let name = accountName a, name `notElem` map accountName (sessionAccounts new)]
  where
    find name session = lookup name [(accountName a, a) | a <- sessionAccounts session]
    change name before now = Change name (typical <$> before) (typical <$> now) (verdict before now)
    verdict (Just a) (Just b)
      | typical b > (1 + tolerance) * typical a && minimum (figures b) > maximum (figures a) = Slower
      | typical a > (1 + tolerance) * typical b && maximum (figures b) < minimum (figures a) = Faster
      | otherwise = Same
    verdict Nothing _ = New
    verdict _ Nothing = Gone
    figures = map trialEstimate . trials

-- | A change as one line.
changeText :: Change -> Text
changeText c = case (changeThen c, changeNow c) of
  (Just a, Just b) -> name <> duration a <> " -> " <> duration b <> " (" <> sign (b / a - 1) <> "), " <> word
  (Nothing, Just b) -> name <> duration b <> ", not in the baseline"
  (Just a, Nothing) -> name <> duration a <> " in the baseline, not run"
  (Nothing, Nothing) -> name
  where
    name = visibleText (changeName c) <> ": "
    sign x = (if x >= 0 then "+" else "-") <> Text.strip (percent (abs x))
    word = case changeVerdict c of
      Slower -> "SLOWER"
      Faster -> "faster"
      _ -> "no difference shown"
