{-# LANGUAGE OverloadedStrings #-}

-- | @capstan env@: every setting of the runtime, its value in effect, and the source of the value.
module Capstan.CLI.Env (subcommand) where

import Capstan.Bench.Visible (visible)
import Capstan.CLI.Help
import Capstan.CLI.Json (putJson)
import Capstan.CLI.Library
import Capstan.CLI.Probe
import Capstan.CLI.Problem
import Capstan.CLI.Style
import Capstan.CLI.Version (version)
import Data.Aeson (Encoding, pairs, (.=))
import qualified Data.Aeson.Encoding as E
import Options.Applicative hiding (style)
import System.IO
import System.Posix.Env (getEnvironment)
import Text.Printf (printf)

data Options = Options
  { optionServing :: Serving,
    optionJson :: Bool
  }

-- | The subcommand.
subcommand :: Mod CommandFields (IO ())
subcommand =
  command "env" . info (run <$> options) $
    progDesc "Show every setting, its value, and where it came from"
      <> withExamples
        [ Example "capstan env" "what a program started by capstan run would see",
          Example "OMP_SCHEDULE=guided,x capstan env" "a malformed variable, with the warning that the program would give",
          Example "capstan env --threads 4 --json" "as JSON, with the options of capstan run"
        ]

options :: Parser Options
options = Options <$> servingOptions <*> jsonSwitch "Write JSON"

run :: Options -> IO ()
run chosen = do
  library <- findLibrary unavailable
  environment <- getEnvironment
  variables <- servingEnvironment library (optionServing chosen) (`lookup` environment) >>= either (throwProblem unavailable) pure
  settings <- askSettings variables >>= either (throwProblem unavailable) pure
  let changed = [name | (name, new) <- variables, lookup name environment /= Just new]
      attribute s = if settingName s `elem` changed then s {settingSource = FromCommandLine} else s
      told = settings {settingsList = map attribute (settingsList settings)}
  if optionJson chosen
    then putJson stdout (settingsJson library environment told)
    else do
      style <- styleFor stdout
      putStr (settingsText style library environment told)

-- | The sources of a value, by name.
sourceName :: Source -> String
sourceName source = case source of
  FromDefault -> "default"
  FromEnvironment -> "environment"
  FromLimits -> "limits"
  FromCommandLine -> "capstan run"
  FromVariable name -> "from " <> name

settingsText :: Style -> Library -> [(String, String)] -> Settings -> String
settingsText style library environment settings =
  unlines $
    [ heading style ("Capstan " <> version) <> ", " <> libraryRuntime library,
      machineText (settingsMachine settings),
      ""
    ]
      <> concatMap row (settingsList settings)
      <> map (caution style . visible) (settingsWarnings settings)
  where
    width f = maximum (0 : map (length . f) (settingsList settings))
    shown = visible . settingValue
    row s =
      printf
        "%-*s  %-*s  %s"
        (width settingName)
        (settingName s)
        (min 24 (width shown))
        (if null (shown s) then "-" else shown s)
        (dress s (origin s)) :
      map (\w -> "    " <> bad style (visible w)) (settingWarnings s)
    origin s
      | settingRejected s = sourceName (settingSource s) <> given s " was refused"
      | settingHidden s = sourceName (settingSource s) <> given s " is overridden by another variable"
      | settingSource s == FromLimits = limitsText (settingsMachine settings)
      | otherwise = sourceName (settingSource s)
    given s what = maybe "" (\text -> ": " <> show text <> what) (lookup (settingName s) environment)
    dress s
      | settingRejected s = bad style
      | settingSource s == FromDefault = faint style
      | otherwise = id

machineText :: Machine -> String
machineText machine =
  printf "Processors: %d in the affinity mask, %s; %d available" (machineAffinity machine) quota (machineAvailable machine)
  where
    quota = case machineQuota machine of
      0 -> "no cgroup quota"
      n -> "a cgroup quota worth " <> show n

limitsText :: Machine -> String
limitsText machine
  | machineQuota machine > 0 && machineQuota machine < machineAffinity machine = "limits: cgroup quota"
  | otherwise = "limits: affinity mask"

settingsJson :: Library -> [(String, String)] -> Settings -> Encoding
settingsJson library environment settings =
  pairs $
    mconcat
      [ "capstan" .= version,
        "library" .= libraryRuntime library,
        E.pair "processors" . pairs $
          mconcat
            [ "affinity" .= machineAffinity machine,
              "quota" .= (if machineQuota machine == 0 then Nothing else Just (machineQuota machine)),
              "available" .= machineAvailable machine
            ],
        E.pair "settings" (E.list setting (settingsList settings)),
        "warnings" .= settingsWarnings settings
      ]
  where
    machine = settingsMachine settings
    setting s =
      pairs $
        mconcat
          [ "name" .= settingName s,
            "value" .= settingValue s,
            "source" .= sourceName (settingSource s),
            "given" .= lookup (settingName s) environment,
            "rejected" .= settingRejected s,
            "overridden" .= settingHidden s,
            "warnings" .= settingWarnings s
          ]
