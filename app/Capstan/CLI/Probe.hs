{-# LANGUAGE OverloadedStrings #-}

-- | Asks the runtime itself: a process that contains only the runtime reports its settings, and
-- whether it can open a region.
--
-- The command repeats none of the runtime's logic, so the answers cannot differ.
module Capstan.CLI.Probe
  ( -- * Settings
    Settings (..),
    Setting (..),
    Source (..),
    Machine (..),
    askSettings,

    -- * A region
    Trial (..),
    tryRegion,
  )
where

import Capstan.CLI.Environment (withVariables)
import Capstan.CLI.Host (anonymousFile, nameOf, ownExecutable, readWritten)
import Capstan.CLI.Json (decodeLine)
import Capstan.CLI.Problem (throwProblem, unavailable)
import Capstan.CLI.Report (ProcessReport, parseReports)
import Control.Concurrent (threadDelay)
import Data.Aeson
import qualified Data.ByteString.Char8 as C
import Data.Char (isSpace)
import Data.List (isInfixOf)
import Data.Maybe (listToMaybe, mapMaybe)
import qualified Data.Text as T
import qualified Data.Text.Encoding as T
import qualified Data.Text.Encoding.Error as T
import System.Exit (ExitCode)
import System.Posix.IO (dup, fdToHandle)
import System.Process

-- | The source of a value.
data Source
  = FromDefault
  | FromEnvironment
  | FromLimits
  | FromCommandLine
  | -- | Another variable, which decides this one too.
    FromVariable String
  deriving (Eq, Show)

-- | One variable, as the runtime read it.
data Setting = Setting
  { settingName :: String,
    settingValue :: String,
    settingSource :: Source,
    -- | The runtime refused what the environment says.
    settingRejected :: Bool,
    -- | Another variable takes precedence over it.
    settingHidden :: Bool,
    -- | The lines about the variable that the runtime writes to standard error.
    settingWarnings :: [String]
  }
  deriving (Eq, Show)

-- | The processors that the runtime counts.
data Machine = Machine
  { -- | The number in the affinity mask.
    machineAffinity :: Int,
    -- | The number that the cgroup's quota allows, rounded up; 0 for no quota.
    machineQuota :: Int,
    -- | The smaller of the two numbers.
    machineAvailable :: Int
  }
  deriving (Eq, Show)

-- | The complete answer of the runtime.
data Settings = Settings
  { settingsMachine :: Machine,
    settingsList :: [Setting],
    -- | Warnings that belong to no variable of the list.
    settingsWarnings :: [String]
  }
  deriving (Eq, Show)

instance FromJSON Machine where
  parseJSON = withObject "machine" $ \o -> Machine <$> o .: "affinity" <*> o .: "quota" <*> o .: "available"

instance FromJSON Setting where
  parseJSON = withObject "setting" $ \o -> do
    source <- o .: "source"
    state <- o .: "state"
    Setting
      <$> o .: "name"
      <*> o .: "value"
      <*> case source :: T.Text of
        "environment" -> pure FromEnvironment
        "limits" -> pure FromLimits
        "default" -> pure FromDefault
        _ | Just variable <- T.stripPrefix "from " source -> pure (FromVariable (T.unpack variable))
        other -> fail ("unknown source " <> T.unpack other)
      <*> pure (state == ("rejected" :: T.Text))
      <*> pure (state == "hidden")
      <*> pure []

-- | The settings of a program that starts with the given variables.
askSettings :: [(String, String)] -> IO (Either String Settings)
askSettings variables = do
  dump <- anonymousFile "capstan-settings"
  (ending, said) <- probe "settings" (("CAPSTAN_DUMP", "fd:" <> show dump) : variables)
  written <- C.lines <$> readWritten dump
  pure $ case (listToMaybe (mapMaybe decodeLine written), mapMaybe decodeLine written) of
    (Just machine, settings@(_ : _)) ->
      let of' s = filter (settingName s `isNamedIn`) said
          list = [s {settingWarnings = of' s} | s <- settings]
       in Right
            Settings
              { settingsMachine = machine,
                settingsList = list,
                settingsWarnings = filter (`notElem` concatMap settingWarnings list) said
              }
    _ -> Left ("the runtime did not say its settings" <> details ending said)
  where
    isNamedIn name line = name `elem` words' line
    words' = words . map (\c -> if c `elem` (",.:;=\"'" :: String) then ' ' else c)

-- | The result of a region.
data Trial = Trial
  { trialReport :: Maybe ProcessReport,
    -- | The failure, if there was one.
    trialFailure :: Maybe String
  }
  deriving (Eq, Show)

-- | Opens one region on the runtime.
tryRegion :: [(String, String)] -> IO Trial
tryRegion variables = do
  descriptor <- anonymousFile "capstan-report"
  name <- nameOf descriptor
  (ending, said) <- probe "region" (("CAPSTAN_REPORT", name) : variables)
  report <- listToMaybe . parseReports <$> readWritten descriptor
  pure
    Trial
      { trialReport = report,
        trialFailure = case (report, ending) of
          (Just _, Just _) -> Nothing
          _ -> Just ("a process with one region did not end well" <> details ending said)
      }

details :: Maybe ExitCode -> [String] -> String
details ending said = how <> concatMap (": " <>) (take 1 (reverse said))
  where
    how = maybe " (no end within 10 s)" (\code -> " (" <> show code <> ")") ending

-- Runs this executable again, as a process that contains only the runtime. Returns its exit code,
-- or 'Nothing' if it hung, and the lines of its standard error.
probe :: String -> [(String, String)] -> IO (Maybe ExitCode, [String])
probe what variables = do
  self <- ownExecutable >>= maybe (throwProblem unavailable "cannot find this command's own file, to start it with the runtime") pure
  environment <- withVariables variables
  said <- anonymousFile "capstan-stderr"
  errors <- dup said >>= fdToHandle
  (_, _, _, process) <-
    createProcess
      (proc self ["--probe", what])
        { env = Just environment,
          std_in = NoStream,
          std_out = NoStream,
          std_err = UseHandle errors
        }
  ending <- await process (10 * 1000000)
  text <- readWritten said
  pure (ending, messages (T.unpack (T.decodeUtf8With T.lenientDecode text)))
  where
    messages = filter (not . all isSpace) . withoutDisplay . lines

-- Removes the text that OMP_DISPLAY_ENV may have produced.
withoutDisplay :: [String] -> [String]
withoutDisplay said = case break (isInfixOf "OPENMP DISPLAY ENVIRONMENT BEGIN") said of
  (before, _ : rest) -> before <> drop 1 (dropWhile (not . isInfixOf "OPENMP DISPLAY ENVIRONMENT END") rest)
  (before, []) -> before

-- Waits for a process by polling: a blocking wait would block the whole runtime system, and with it
-- the time limit.
await :: ProcessHandle -> Int -> IO (Maybe ExitCode)
await process remaining = do
  code <- getProcessExitCode process
  case code of
    Just _ -> pure code
    Nothing
      | remaining <= 0 -> terminateProcess process >> pure Nothing
      | otherwise -> threadDelay 1000 >> await process (remaining - 1000)
