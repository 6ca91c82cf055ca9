{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Choice
-- Description : A check, before anything is measured, that a suite has the chosen cases.
module Capstan.CLI.Bench.Choice (hasChosen, choices) where

import Capstan.CLI.Bench.Run (Plan (..), applies, covers, runsUnder)
import Capstan.CLI.Bench.Runtime (Places (..), Runtime (..), cleanEnvironment, runtimeNames)
import Capstan.CLI.Bench.Suite (Program (..), Suite (..))
import Data.Function (on)
import Data.List (find, intercalate, nub, nubBy, sort)
import qualified Data.Map.Strict as Map
import qualified Data.Text as Text
import System.Directory (doesFileExist)
import System.Exit (ExitCode (..))
import System.FilePath ((</>))
import System.Process (CreateProcess (..), proc, readCreateProcessWithExitCode)
import System.Timeout (timeout)

-- | Whether the plan would measure anything of the suite, as far as that is known before.
hasChosen :: Plan -> Suite -> IO Bool
hasChosen plan suite
  | not (applies plan suite) = pure False
  | null (planCases plan) = pure True
  | otherwise = do
    lists <- mapM (listed plan) [p | p <- suitePrograms suite, any (runsUnder p) (planRuntimes plan)]
    pure (any (maybe True (any (\name -> any (`covers` name) (planCases plan)))) lists)

-- | The message that the suite has nothing of that kind, with the cases, team sizes and runtimes that it has.
choices :: Plan -> Suite -> IO String
choices plan suite = do
  cases <- concat <$> mapM named (nubBy ((==) `on` identity) (suitePrograms suite))
  pure $
    "no program of the suite " <> Text.unpack (suiteName suite) <> " has such a case, team size or runtime. "
      <> intercalate "; " (["cases: " <> intercalate ", " (nub cases) | not (null cases)] <> ["team sizes: " <> intercalate ", " (map show sizes), "runtimes: " <> intercalate ", " runtimes])
  where
    identity p = (programName p, programWords p, if programHaskell p then programCases p 2 else [])
    named p = maybe [] (map (<> under p)) <$> listed plan p
    under p = if null (programRuntimes p) then "" else " (" <> intercalate ", " (map Text.unpack (programRuntimes p)) <> ")"
    sizes = nub (sort (concatMap (`programThreads` planCores plan) (suitePrograms suite)))
    runtimes = [Text.unpack name | name <- runtimeNames, any (\p -> null (programRuntimes p) || name `elem` programRuntimes p) (suitePrograms suite)]

-- The cases of a program, if they are known before it is measured. C programs list them. Another
-- program that gets the option measures or refuses, and is ended after two seconds at most.
listed :: Plan -> Program -> IO (Maybe [String])
listed plan p
  | programLaunched p = pure Nothing
  | programHaskell p = pure (nonEmpty (nub (concatMap (programCases p) (programThreads p (planCores plan)))))
  | otherwise = do
    there <- doesFileExist file
    clean <- cleanEnvironment
    let chosen = maybe [] runtimeEnvironment (find (runsUnder p) (planRuntimes plan))
        settings = Map.toList (Map.union (Map.fromList chosen) clean)
        command = (proc file (programWords p <> ["-l"])) {env = Just settings}
    outcome <- if there then timeout 2000000 (readCreateProcessWithExitCode command "") else pure Nothing
    pure $ case outcome of
      Just (ExitSuccess, out, _) | '\t' `notElem` out -> nonEmpty (lines out)
      _ -> Nothing
  where
    file = placePrograms (planPlaces plan) </> programName p
    nonEmpty names = if null names then Nothing else Just names
