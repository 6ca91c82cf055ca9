-- | @capstan doctor@ shows which OpenMP runtimes a program would load, diagnoses problems and gives
-- advice.
module Capstan.CLI.Doctor (subcommand) where

import Capstan.CLI.Doctor.Diagnose (diagnose)
import Capstan.CLI.Doctor.Facts
import Capstan.CLI.Doctor.Finding (healthy)
import Capstan.CLI.Doctor.Render
import Capstan.CLI.Help
import Capstan.CLI.Json (putJson)
import Capstan.CLI.Meant (meantProcess)
import Capstan.CLI.Style
import Options.Applicative hiding (style)
import System.Directory (doesDirectoryExist)
import System.Exit (ExitCode (..), exitWith)
import System.IO (stdout)

data Asked = Machine | Named String | Running Int

data Options = Options
  { optionAsked :: Asked,
    optionJson :: Bool
  }

-- | The subcommand.
subcommand :: Mod CommandFields (IO ())
subcommand =
  command "doctor" . info (run <$> options) $
    progDesc "Say which OpenMP runtimes a program would load, and what to do. Exit code 1 when there is a problem"
      <> withExamples
        [ Example "capstan doctor" "this machine and this installation",
          Example "capstan doctor convert" "a program",
          Example "capstan doctor /usr/lib/python3/dist-packages/numpy" "the libraries of a Python package",
          Example "capstan doctor --pid 4711 --json" "a running process, as JSON"
        ]

options :: Parser Options
options =
  Options
    <$> ( Running
            <$> option positive (long "pid" <> short 'p' <> metavar "N" <> help "Look at a running process")
            <|> Named
              <$> strArgument
                ( metavar "PROGRAM|DIRECTORY" <> action "command" <> action "file"
                    <> help "A program, a script, a shared library, or a directory of libraries"
                )
            <|> pure Machine
        )
    <*> jsonSwitch "Write JSON"
  where
    positive = eitherReader $ \text -> case reads text of
      [(n, "")] | n > 0 -> Right n
      _ -> Left ("--pid takes a process number, not \"" <> text <> "\"")

run :: Options -> IO ()
run chosen = do
  subject <- case optionAsked chosen of
    Machine -> pure NoSubject
    Running pid -> meantProcess pid >>= gatherProcess
    Named name -> do
      isDirectory <- doesDirectoryExist name
      (if isDirectory then gatherDirectory else gatherProgram) name
  facts <- gatherFacts subject
  let findings = diagnose facts
  if optionJson chosen
    then putJson stdout (doctorJson facts findings)
    else do
      style <- styleFor stdout
      putStr (doctorText style facts findings)
  exitWith (if healthy findings then ExitSuccess else ExitFailure 1)
