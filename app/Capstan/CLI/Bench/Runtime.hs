{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Runtime
-- Description : The runtimes that are compared, and a check that each process uses the right one.
--
-- All runtimes serve the same executables: the dynamic linker finds a different @libgomp.so.1@ for
-- each runtime. The command asks the linker which file it found. It refuses a Capstan that fell
-- back to another substrate.
module Capstan.CLI.Bench.Runtime
  ( Runtime (..),
    isOurs,
    runtimeNames,
    Places (..),
    findPlaces,
    findRuntimes,
    cleanEnvironment,
  )
where

import Capstan.Bench.Json (decodeJson)
import Capstan.CLI.Host (ownExecutable)
import Capstan.CLI.Problem (throwProblem, unavailable)
import Control.Monad (filterM)
import qualified Data.Aeson as Aeson
import qualified Data.ByteString as B
import Data.List (isPrefixOf, isSuffixOf)
import Data.Map.Strict (Map)
import qualified Data.Map.Strict as Map
import Data.Maybe (listToMaybe)
import Data.Text (Text)
import qualified Data.Text as Text
import System.Directory (canonicalizePath, doesFileExist, getCurrentDirectory, getTemporaryDirectory, removeFile)
import System.Environment (getEnvironment)
import System.Exit (ExitCode (..))
import System.FilePath (isDrive, takeDirectory, (</>))
import System.IO (hClose, openTempFile)
import System.Process (CreateProcess (..), proc, readCreateProcessWithExitCode)

data Runtime = Runtime
  { -- | @libgomp@, @libomp@, @pthread@ or @rts@.
    runtimeName :: !Text,
    -- | The file that the dynamic linker takes.
    runtimeLibrary :: !FilePath,
    -- | Variables that are added to 'cleanEnvironment'.
    runtimeEnvironment :: [(String, String)]
  }
  deriving (Eq, Show)

-- | Whether the name is one of Capstan's.
isOurs :: Text -> Bool
isOurs name = name `elem` ["pthread", "rts"]

-- | All runtimes that may be measured, in the order in which they take turns.
runtimeNames :: [Text]
runtimeNames = ["libgomp", "libomp", "pthread", "rts"]

-- | Paths in the source tree in which the command was built.
data Places = Places
  { placePrograms :: FilePath,
    placeLibgomp :: FilePath,
    placeLibomp :: FilePath,
    placeLibrary :: FilePath,
    placeCommand :: FilePath,
    placeTargets :: FilePath,
    placeResults :: FilePath
  }

-- | Looks for the source tree: first in the working directory and the directories above it, then
-- above the command.
findPlaces :: IO (Maybe Places)
findPlaces = do
  command <- ownExecutable >>= maybe (throwProblem unavailable "cannot find this command's own file") pure
  here <- getCurrentDirectory
  roots <- filterM (\d -> doesFileExist (d </> "bench" </> "targets.json")) (concatMap above [here, takeDirectory command])
  return (fmap (placesIn command) (listToMaybe roots))
  where
    above = takeWhile (not . isDrive) . iterate takeDirectory
    placesIn command root =
      Places
        { placePrograms = root </> "build" </> "bench" </> "bin",
          placeLibgomp = root </> "build" </> "bench" </> "libgomp",
          placeLibomp = root </> "build" </> "bench" </> "libomp",
          placeLibrary = root </> "build" </> "lib",
          placeCommand = command,
          placeTargets = root </> "bench" </> "targets.json",
          placeResults = root </> "build" </> "bench"
        }

-- | The caller's environment without variables that change the behaviour of an OpenMP program or of
-- GHC's runtime.
cleanEnvironment :: IO (Map String String)
cleanEnvironment = Map.filterWithKey (\name _ -> not (steers name)) . Map.fromList <$> getEnvironment
  where
    steers name = any (`isPrefixOf` name) ["OMP_", "GOMP_", "KMP_", "CAPSTAN_", "LD_", "GHCRTS", "MALLOC_"]

-- | The runtimes that can be measured here, and a line about each runtime that cannot.
findRuntimes :: Places -> IO ([Runtime], [Text])
findRuntimes places = do
  found <- mapM (examine places) candidates
  return ([r | Right r <- found], [missing | Left missing <- found])
  where
    candidates =
      [ ("libgomp", placeLibgomp places, []),
        ("libomp", placeLibomp places, []),
        ("pthread", placeLibrary places, [("CAPSTAN_SUBSTRATE", "pthread")]),
        ("rts", placeLibrary places, [("CAPSTAN_SUBSTRATE", "rts")])
      ]

examine :: Places -> (Text, FilePath, [(String, String)]) -> IO (Either Text Runtime)
examine places (name, folder, settings) = do
  present <- doesFileExist (folder </> "libgomp.so.1")
  if not present
    then return (Left (name <> ": no library in " <> Text.pack folder))
    else do
      found <- resolve places environment
      case found of
        Nothing -> return (Left (name <> ": the dynamic linker finds no libgomp.so.1"))
        Just library -> do
          served <- if isOurs name then substrate places environment else return (Right name)
          return (Runtime name library environment <$ (served >>= sameAs))
  where
    environment = ("LD_LIBRARY_PATH", folder) : settings
    sameAs served
      | served == name = Right ()
      | otherwise = Left (name <> ": the program was served by " <> served)

-- | The @libgomp.so.1@ that the programs load, according to the dynamic linker.
resolve :: Places -> [(String, String)] -> IO (Maybe FilePath)
resolve places environment = do
  (_, out, _) <- runSmall (("LD_TRACE_LOADED_OBJECTS", "1") : environment) (placePrograms places </> "overhead") []
  case [path | line <- lines out, (file : "=>" : path : _) <- [words line], "libgomp.so.1" `isSuffixOf` file] of
    path : _ -> Just <$> canonicalizePath path
    [] -> return Nothing

-- | The substrate that Capstan reports after a region.
substrate :: Places -> [(String, String)] -> IO (Either Text Text)
substrate places environment = do
  temporary <- getTemporaryDirectory
  (file, handle) <- openTempFile temporary "capstan-bench.json"
  hClose handle
  let command = ["-c", "exec \"$0\" region 2 3>" ++ show file, placePrograms places </> "startup-child"]
  (code, _, err) <- runSmall (("CAPSTAN_REPORT", "fd:3") : environment) "/bin/sh" command
  report <- B.readFile file
  let answer = case (code, decodeJson report) of
        (ExitSuccess, Right (Report served note)) -> Right (maybe served (\n -> served <> " (" <> n <> ")") note)
        (ExitSuccess, Left _) -> Left "the runtime did not report"
        (ExitFailure n, _) -> Left ("a program with one region failed: " <> Text.pack (show n) <> " " <> Text.strip (Text.pack err))
  removeFile file
  return answer

data Report = Report Text (Maybe Text)

instance Aeson.FromJSON Report where
  parseJSON = Aeson.withObject "report" $ \o -> Report <$> o Aeson..: "substrate" <*> o Aeson..:? "note"

runSmall :: [(String, String)] -> FilePath -> [String] -> IO (ExitCode, String, String)
runSmall environment program arguments = do
  clean <- cleanEnvironment
  let settings = Map.toList (Map.union (Map.fromList environment) clean)
  readCreateProcessWithExitCode (proc program arguments) {env = Just settings} ""
