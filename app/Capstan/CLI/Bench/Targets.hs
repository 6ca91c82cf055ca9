{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Targets
-- Description : The required figures of bench/targets.json, and their comparison with measured
-- figures.
--
-- A target compares a case of Capstan with another runtime, with the machine's floor, or with
-- another case of the same runtime. Or it bounds the figure itself. It is met if the median keeps
-- the bound. If the target is parity, the bound must only lie inside the noise; such a target has
-- "noise": true.
module Capstan.CLI.Bench.Targets
  ( Target (..),
    Peer (..),
    Bound (..),
    Threads (..),
    readTargets,
    Judgement (..),
    judge,
    neededBy,
    metBy,
    judgementTable,
  )
where

import Capstan.Bench.Json (readJson)
import Capstan.CLI.Bench.Runtime (isOurs)
import Capstan.CLI.Bench.Statistics
import Capstan.CLI.Bench.Table (Align (..), figure, quantity, ratioText, table)
import Capstan.CLI.Bench.Types
import Capstan.CLI.Style (Style)
import qualified Capstan.CLI.Style as Style
import Control.Applicative ((<|>))
import Data.Aeson (FromJSON (..), Value (..), withObject, (.!=), (.:), (.:?))
import Data.List (minimumBy, nub)
import Data.Maybe (maybeToList)
import Data.Ord (comparing)
import Data.Text (Text)
import qualified Data.Text as Text
import Text.Read (readMaybe)

data Peer
  = -- | Another runtime, with the same case and team size.
    ToRuntime Text
  | -- | The better of the two other runtimes.
    ToBest
  | -- | A figure of the machine.
    ToFloor Text
  | -- | Another case of the same runtime.
    ToCase Text
  | -- | A case of the same runtime with a gain. It is the gain of separate programs, or of threads
    -- of C, whose number is the size of the team.
    ToGain Text
  | -- | No peer: the bound is for the figure itself.
    ToNothing
  deriving (Eq, Show)

data Bound
  = -- | A bound for the ratio, or for the figure itself if there is no peer.
    AtMost Double
  | AtLeast Double
  | -- | A bound for the difference to the peer's figure, in the unit of the case.
    AtMostMore Double
  deriving (Eq, Show)

-- | A team size, or a multiple of the number of cores.
data Threads = Exactly Int | TimesCores Int
  deriving (Eq, Show)

data Target = Target
  { targetSuite :: !Text,
    targetTitle :: !Text,
    targetCase :: !Text,
    targetThreads :: !Threads,
    -- | The runtimes of Capstan to which the target applies; empty for all.
    targetRuntimes :: [Text],
    targetPeer :: !Peer,
    targetBound :: !Bound,
    -- | A case of the same runtime that has the gain of separate programs, as many as the team has
    -- threads. If this gain is less than their number, the target asks for the same part of the
    -- gain.
    targetCeiling :: !(Maybe Text),
    targetNoise :: !Bool,
    -- | Whether the target is skipped if the peer was not measured, because the peer is not
    -- available on all systems.
    targetOptional :: !Bool,
    targetReason :: !Text
  }
  deriving (Eq, Show)

instance FromJSON Threads where
  parseJSON (String text)
    | Just n <- readMaybe . Text.unpack =<< Text.stripSuffix "x" text = pure (TimesCores n)
  parseJSON value = Exactly <$> parseJSON value

instance FromJSON Target where
  parseJSON = withObject "target" $ \o ->
    Target <$> o .: "suite" <*> o .: "row" <*> o .: "case" <*> o .:? "threads" .!= TimesCores 1
      <*> o .:? "runtimes" .!= []
      <*> (o .:? "to" >>= peer)
      <*> (AtMost <$> o .: "at_most" <|> AtLeast <$> o .: "at_least" <|> AtMostMore <$> o .: "at_most_more")
      <*> o .:? "ceiling"
      <*> o .:? "noise" .!= False
      <*> o .:? "optional" .!= False
      <*> o .: "reason"
    where
      peer :: Applicative f => Maybe Text -> f Peer
      peer Nothing = pure ToNothing
      peer (Just "best") = pure ToBest
      peer (Just text)
        | Just name <- Text.stripPrefix "floor:" text = pure (ToFloor name)
        | Just name <- Text.stripPrefix "case:" text = pure (ToCase name)
        | otherwise = pure (ToRuntime text)

newtype Targets = Targets [Target]

instance FromJSON Targets where
  parseJSON = withObject "targets" $ \o -> Targets <$> o .: "targets"

readTargets :: FilePath -> IO (Either Text [Target])
readTargets file = either (Left . Text.pack) (\(Targets t) -> Right t) <$> readJson file

teamSize :: Int -> Target -> Int
teamSize cores target = case targetThreads target of
  Exactly n -> n
  TimesCores n -> n * cores

-- | The cases that must be measured to judge the targets, each with its team size.
neededBy :: Int -> [Target] -> [(String, Int)]
neededBy cores targets = nub [(Text.unpack name, teamSize cores t) | t <- targets, name <- targetCase t : [other | ToCase other <- [targetPeer t]] ++ maybeToList (targetCeiling t)]

-- | A target with a runtime of Capstan, and its outcome: a ratio or figure with its interval and
-- the bound in words, or the reason why there is no figure.
data Judgement = Judgement
  { judgementTarget :: Target,
    judgementRuntime :: !Text,
    judgementOutcome :: Either Text (Ratio, Text)
  }

-- | Judges a target by the results of its suite, on a machine with the given number of cores.
judge :: Int -> Results -> Target -> [Judgement]
judge cores results target
  | null ours = [Judgement target "-" (Left "no runtime of ours was measured")]
  | otherwise = [Judgement (asked name) name (outcome name) | name <- ours, not (targetOptional target && null (peerOf name))]
  where
    ours =
      [ name
        | name <- nub (map fst (resultsRuntimes results)),
          isOurs name,
          null (targetRuntimes target) || name `elem` targetRuntimes target
      ]
    threads = teamSize cores target
    find rows name runtime =
      [r | r <- rows, rowCase r == name, rowRuntime r == runtime, rowThreads r == threads, not (null (present r))]
    outcome name = case find (resultsRows results) (targetCase target) name of
      [] -> Left "not measured"
      row : _ -> against (asked name) row (peerOf name)
    asked name = case (targetBound target, targetCeiling target) of
      (AtLeast x, Just ceiling')
        | gain : _ <- find (resultsRows results) ceiling' name,
          median (present gain) < fromIntegral threads ->
          target {targetPeer = ToGain ceiling', targetBound = AtLeast (x / fromIntegral threads)}
      _ -> target
    peerOf name = case targetPeer (asked name) of
      ToRuntime other -> find (resultsRows results) (targetCase target) other
      ToBest -> best (concatMap (find (resultsRows results) (targetCase target)) ["libgomp", "libomp"])
      ToFloor floorCase -> [r | r <- resultsFloor results, rowCase r == floorCase, not (null (present r))]
      ToCase other -> find (resultsRows results) other name
      ToGain other -> find (resultsRows results) other name
      ToNothing -> []
    best [] = []
    best rows = [minimumBy (comparing (median . present)) rows]

against :: Target -> Row -> [Row] -> Either Text (Ratio, Text)
against target row peers = case (targetPeer target, targetBound target, peers) of
  (ToNothing, _, _) -> Right (own, bounded (quantity (rowUnit row)))
  (_, _, []) -> Left ("no peer was measured: " <> peerName (targetPeer target))
  (_, AtMostMore more, peer : _) ->
    let base = median (present peer)
     in Right (shift (negate base) own, "at most " <> quantity (rowUnit row) more <> " over " <> rowRuntime peer <> "'s " <> quantity (rowUnit row) base)
  (_, _, peer : _) -> case ratioPaired (rowValues row) (rowValues peer) of
    Nothing -> Left "no round in which both were measured"
    Just r -> Right (r, bounded figure <> called peer)
  where
    values = present row
    own = Ratio (minimum values) (median values) (maximum values) (length values)
    shift by (Ratio a b c n) = Ratio (a + by) (b + by) (c + by) n
    bounded say = case targetBound target of
      AtMost x -> "at most " <> say x
      AtLeast x -> "at least " <> say x
      AtMostMore x -> "at most " <> say x <> " more"
    called peer = case targetPeer target of
      ToGain name -> " of what " <> Text.pack (show (rowThreads peer)) <> gaining name <> " gain (" <> middle peer <> "); it gains " <> middle row
      ToCase name -> times name peer
      ToFloor name -> times name peer
      _ -> times (rowRuntime peer) peer
    gaining name = if "-c-gain" `Text.isSuffixOf` name then " pinned threads of C" else " sequential programs at once"
    times name peer = " x " <> name <> " (" <> middle peer <> ")"
    middle r = quantity (rowUnit r) (median (present r))

peerName :: Peer -> Text
peerName peer = case peer of
  ToRuntime name -> name
  ToBest -> "libgomp or libomp"
  ToFloor name -> "the machine's " <> name
  ToCase name -> "case " <> name
  ToGain name -> "case " <> name
  ToNothing -> "none"

-- | Whether the figure keeps the bound, and whether it does so only within the noise.
metBy :: Judgement -> Maybe (Bool, Bool)
metBy j = case judgementOutcome j of
  Left _ -> Nothing
  Right (r, _) -> Just $ case targetBound (judgementTarget j) of
    AtMost x -> decide (ratioMiddle r <= x) (ratioLow r <= x)
    AtMostMore x -> decide (ratioMiddle r <= x) (ratioLow r <= x)
    AtLeast x -> decide (ratioMiddle r >= x) (ratioHigh r >= x)
  where
    decide plainly barely
      | plainly = (True, False)
      | otherwise = (targetNoise (judgementTarget j) && barely, barely)

judgementTable :: Style -> [Judgement] -> String
judgementTable style judgements = table aligns (headings : map line judgements)
  where
    aligns = [ToLeft, ToLeft, ToLeft, ToLeft, ToLeft, ToLeft]
    headings = [(h, Style.faint style) | h <- ["suite", "row", "runtime", "figure", "bound", "verdict"]]
    line j =
      [ (targetSuite (judgementTarget j), id),
        (targetTitle (judgementTarget j), Style.heading style),
        (judgementRuntime j, id),
        (either (const "-") (shown j . fst) (judgementOutcome j), id),
        (either (const "") snd (judgementOutcome j), id),
        word j
      ]
    shown j r
      | targetPeer (judgementTarget j) == ToNothing = figure (ratioMiddle r)
      | otherwise = ratioText r
    word j = case (judgementOutcome j, metBy j) of
      (Left why, _) -> (why, Style.caution style)
      (_, Just (True, False)) -> ("met", Style.good style)
      (_, Just (True, True)) -> ("met, inside the noise", Style.good style)
      (_, Just (False, True)) -> ("SHORT, by less than the noise", Style.bad style)
      (_, _) -> ("SHORT", Style.bad style)
