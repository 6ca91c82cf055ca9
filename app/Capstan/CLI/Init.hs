-- | @capstan init@: writes the files of a first project.
module Capstan.CLI.Init (subcommand) where

import Capstan.CLI.Help
import Capstan.CLI.Init.Project (nameProblem, projectFiles)
import Capstan.CLI.Problem
import Control.Exception (try)
import Control.Monad (forM_, unless, when)
import Options.Applicative
import System.Directory (createDirectoryIfMissing, doesFileExist, doesPathExist, makeAbsolute)
import System.FilePath (takeDirectory, (</>))

-- | The project's name, and the folder of Capstan's source.
data Options = Options String (Maybe FilePath)

-- | The subcommand.
subcommand :: Mod CommandFields (IO ())
subcommand =
  command "init" . info (run <$> options) $
    progDesc "Write a Haskell project that uses Capstan, with a C file and a test"
      <> withExamples
        [ Example "capstan init hello" "the folder hello, for cabal run and cabal test",
          Example "capstan init hello --source ../capstan" "the same, with the package capstan built from its source"
        ]

options :: Parser Options
options =
  Options
    <$> strArgument (metavar "NAME" <> help "The name of the project and of its folder, which is made here")
    <*> optional
      ( strOption
          ( long "source" <> metavar "FOLDER" <> action "directory"
              <> help "Where the source of the package capstan lies, if cabal finds the package nowhere else"
          )
      )

run :: Options -> IO ()
run (Options name source) = do
  forM_ (nameProblem name) $ \problem -> throwProblem usageError ("init: " <> show name <> " " <> problem)
  there <- doesPathExist name
  when there $ throwProblem cannotCreate ("init: " <> show name <> " is there already; the folder must be new")
  folder <- traverse sourceFolder source
  let files = projectFiles name folder
  written <- try . forM_ files $ \(file, text) -> do
    let path = name </> file
    createDirectoryIfMissing True (takeDirectory path)
    writeFile path text
  either (\e -> throwProblem cannotCreate ("init: " <> show (e :: IOError))) pure written
  config <- maybe (pure []) offline folder
  putStr . unlines $ ["Written:"] <> ["  " <> name </> file | (file, _) <- files] <> ["Now:"] <> config <> ["  cd " <> name <> " && cabal run " <> name <> " && cabal test"]

-- | The command after which cabal uses the installed libraries alone, if the source has the file for
-- it. On a machine without a package index, cabal fails otherwise.
offline :: FilePath -> IO [String]
offline folder = do
  present <- doesFileExist config
  pure ["  export CABAL_CONFIG=" <> show config <> "    # without a network: only libraries that are installed" | present]
  where
    config = folder </> "tools/cabal.config"

-- | The folder of the package's source, from anywhere.
sourceFolder :: FilePath -> IO FilePath
sourceFolder folder = do
  present <- doesFileExist (folder </> "capstan.cabal")
  unless present $ throwProblem noInput ("init: --source " <> show folder <> " has no capstan.cabal; it must be the folder of Capstan's source")
  makeAbsolute folder
