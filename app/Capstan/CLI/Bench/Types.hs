{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Types
-- Description : Measurements, and their files.
--
-- A 'Row' has the values of one case, under one runtime, with one team size: one value for each
-- round. A round that failed stays as 'Nothing', because two runtimes are compared round by round.
-- A disturbance of the machine in a round affects both runtimes.
module Capstan.CLI.Bench.Types
  ( Row (..),
    rowKey,
    present,
    Results (..),
    Machine (..),
    Failure (..),
    failureLines,
    readResults,
    writeResults,
  )
where

import Capstan.Bench.Json (readJson)
import Capstan.Bench.Visible (visibleText)
import Capstan.CLI.Bench.Statistics (median)
import Data.Aeson (FromJSON (..), ToJSON (..), encodeFile, object, withObject, (.!=), (.:), (.:?), (.=))
import Data.Aeson.Types (Parser)
import qualified Data.Map.Strict as Map
import Data.Maybe (catMaybes)
import Data.Text (Text)
import qualified Data.Text as Text
import System.Directory (renameFile)

data Row = Row
  { rowSuite :: !Text,
    rowCase :: !Text,
    rowRuntime :: !Text,
    rowThreads :: !Int,
    rowUnit :: !Text,
    -- | The values in the order of the rounds.
    rowValues :: [Maybe Double]
  }
  deriving (Eq, Show)

-- | The key that identifies a row in any run.
rowKey :: Row -> (Text, Text, Text, Int)
rowKey r = (rowSuite r, rowCase r, rowRuntime r, rowThreads r)

present :: Row -> [Double]
present = catMaybes . rowValues

-- | A process that failed, and its message.
data Failure = Failure
  { failureProgram :: !Text,
    failureRuntime :: !Text,
    failureThreads :: !Int,
    failureRound :: !Int,
    failureWords :: !Text
  }
  deriving (Eq, Show)

-- | One line for each kind of failure of a process, with the number of rounds in which it happened.
failureLines :: Results -> [Text]
failureLines results =
  [ Text.concat [p, ", ", number t, if t == 1 then " thread" else " threads", ", under ", r, ": ", w, " (", number n, " of ", number (resultsRounds results), " rounds)"]
    | ((p, r, t, w), n) <- Map.toList counted
  ]
  where
    number = Text.pack . show
    counted = Map.fromListWith (+) [((failureProgram f, failureRuntime f, failureThreads f, failureWords f), 1 :: Int) | f <- resultsFailures results]

data Machine = Machine
  { machineProcessor :: !Text,
    machineCores :: !Int,
    machineKernel :: !Text,
    machineNotes :: [Text]
  }
  deriving (Eq, Show)

-- | The results of one suite after a run.
data Results = Results
  { resultsSuite :: !Text,
    resultsDate :: !Text,
    resultsRounds :: !Int,
    resultsMachine :: !Machine,
    -- | The name and the library of each runtime.
    resultsRuntimes :: [(Text, Text)],
    -- | The machine's own figures, measured in the same rounds.
    resultsFloor :: [Row],
    resultsRows :: [Row],
    resultsFailures :: [Failure]
  }
  deriving (Eq, Show)

instance ToJSON Row where
  toJSON r =
    object $
      [ "suite" .= rowSuite r,
        "case" .= rowCase r,
        "runtime" .= rowRuntime r,
        "threads" .= rowThreads r,
        "unit" .= rowUnit r,
        "n" .= length values,
        "values" .= rowValues r
      ]
        ++ concat [["median" .= median values, "min" .= minimum values, "max" .= maximum values] | not (null values)]
    where
      values = present r

instance FromJSON Row where
  parseJSON = withObject "row" $ \o ->
    Row <$> said (o .: "suite") <*> said (o .: "case") <*> said (o .: "runtime") <*> o .: "threads" <*> said (o .: "unit") <*> o .: "values"

instance ToJSON Failure where
  toJSON f =
    object
      [ "program" .= failureProgram f,
        "runtime" .= failureRuntime f,
        "threads" .= failureThreads f,
        "round" .= failureRound f,
        "words" .= failureWords f
      ]

instance FromJSON Failure where
  parseJSON = withObject "failure" $ \o ->
    Failure <$> said (o .: "program") <*> said (o .: "runtime") <*> o .: "threads" <*> o .: "round" <*> o .: "words"

instance ToJSON Machine where
  toJSON m =
    object
      [ "processor" .= machineProcessor m,
        "cores" .= machineCores m,
        "kernel" .= machineKernel m,
        "notes" .= machineNotes m
      ]

instance FromJSON Machine where
  parseJSON = withObject "machine" $ \o ->
    Machine <$> said (o .: "processor") <*> o .: "cores" <*> said (o .: "kernel") <*> o .:? "notes" .!= []

instance ToJSON Results where
  toJSON r =
    object
      [ "capstan-bench" .= (1 :: Int),
        "suite" .= resultsSuite r,
        "date" .= resultsDate r,
        "rounds" .= resultsRounds r,
        "machine" .= resultsMachine r,
        "runtimes" .= [object ["runtime" .= name, "library" .= library] | (name, library) <- resultsRuntimes r],
        "rows" .= resultsRows r,
        "floor" .= resultsFloor r,
        "failures" .= resultsFailures r
      ]

instance FromJSON Results where
  parseJSON = withObject "results of capstan bench" $ \o -> do
    runtimes <- o .: "runtimes"
    Results <$> said (o .: "suite") <*> said (o .: "date") <*> o .: "rounds" <*> o .: "machine"
      <*> mapM (withObject "runtime" $ \r -> (,) <$> said (r .: "runtime") <*> said (r .: "library")) runtimes
      <*> o .: "floor"
      <*> o .: "rows"
      <*> o .: "failures"

-- | A text from a file, made safe to show.
said :: Parser Text -> Parser Text
said = fmap visibleText

readResults :: FilePath -> IO (Either Text Results)
readResults file = either (Left . Text.pack) Right <$> readJson file

-- | Replaces the file in one step, so a reader never sees half of it.
writeResults :: FilePath -> Results -> IO ()
writeResults file results = do
  encodeFile (file ++ ".new") results
  renameFile (file ++ ".new") file
