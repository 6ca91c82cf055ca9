-- |
-- Module      : Capstan.Bench.Options
-- Description : The command line: criterion's options and ours.
module Capstan.Bench.Options
  ( Options (..),
    optionsVariable,
    optionsFor,
    parseOptions,
    refused,
  )
where

import Capstan.Bench.Encoding (fromBytes)
import Criterion.Main.Options (MatchType (..), Mode (..), defaultConfig, describe, parseWith)
import Criterion.Types (Config (..))
import Data.Word (Word64)
import Options.Applicative
import Options.Applicative.Help (paragraph, unChunk, vsepChunks)
import System.Environment (getArgs, lookupEnv)
import System.Exit (ExitCode (..), exitWith)
import System.IO (hPutStrLn, stderr)

data Options = Options
  { optionRounds :: !Int,
    optionSeed :: !Word64,
    optionBaseline :: Maybe FilePath,
    -- | The part by which a figure may exceed the baseline's figure.
    optionTolerance :: !Double,
    optionStrict :: !Bool,
    optionMode :: Mode
  }

-- | The variable that holds options as words of a command line, for programs with a command line of
-- their own.
optionsVariable :: String
optionsVariable = "CAPSTANBENCH_OPTIONS"

-- | The options of a mode, overridden by those in the variable. Ends the program if the variable is
-- not understood.
optionsFor :: Mode -> IO Options
optionsFor mode = do
  variable <- lookupEnv optionsVariable
  case parseWords (prefs mempty) (info (options defaults) mempty) (maybe [] words variable) of
    Failure problem -> do
      hPutStrLn stderr ("Error: " ++ fst (renderFailure problem optionsVariable))
      exitWith (ExitFailure 64)
    understood -> handleParseResult understood
  where
    defaults = Options 3 1 Nothing 0.05 False mode

-- | As 'optionsFor', overridden by the command line. Ends the program if the arguments are not
-- understood, as criterion does.
parseOptions :: Config -> IO Options
parseOptions config = do
  defaults <- optionsFor (Run config Prefix [])
  getArgs >>= handleParseResult . parseWords preferences (info (helper <*> options defaults) description)
  where
    preferences = prefs showHelpOnError
    description =
      fullDesc
        <> header "Benchmarks in new processes and shuffled order, with a diagnosis"
        <> footerDoc (unChunk (vsepChunks [infoFooter (describe config), paragraph exits]))
    exits = "Exit code: 0; 1 if a benchmark failed, is slower than the baseline, or with --strict if there is a diagnosis; 64 for a name that matches nothing, a baseline that cannot be read, a file in a folder that does not exist, or an option of criterion that is not supported (--raw, --template). Options are also read from the variable CAPSTANBENCH_OPTIONS."

-- | Parses words as they come from the system. File names must stay as they are. A message shows
-- the words decoded as UTF-8, since the library for options replaces other bytes from 0.18 on.
parseWords :: ParserPrefs -> ParserInfo a -> [String] -> ParserResult a
parseWords preferences parser given = case parse given of
  Failure _ -> parse (map fromBytes given)
  result -> result
  where
    parse = execParserPure preferences parser

options :: Options -> Parser Options
options defaults =
  Options
    <$> option positive (long "rounds" <> metavar "N" <> value (optionRounds defaults) <> showDefault <> help "Processes of each benchmark, and orders of all of them in one process")
    <*> option auto (long "seed" <> metavar "N" <> value (optionSeed defaults) <> showDefault <> help "Seed of the shuffled orders")
    <*> ((<|> optionBaseline defaults) <$> optional (strOption (long "baseline" <> metavar "FILE" <> help "Compare with a file that --json wrote")))
    <*> (fmap (/ 100) . option auto) (long "tolerance" <> metavar "PERCENT" <> value (100 * optionTolerance defaults) <> showDefault <> help "Percentage by which a figure may exceed the baseline's")
    <*> ((optionStrict defaults ||) <$> switch (long "strict" <> help "A diagnosis is a failure"))
    <*> ((`over` optionMode defaults) <$> parseWith (configOf (optionMode defaults)))
  where
    positive = do
      n <- auto
      if n < 1 then readerError (show n ++ "; it must be 1 or more") else pure n

-- | Combines two modes. A run without names takes the names of the earlier run, or gives way to
-- another earlier mode.
over :: Mode -> Mode -> Mode
over later earlier = case (later, earlier) of
  (Run config _ [], Run _ match names) -> Run config match names
  (Run _ _ [], _) -> earlier
  _ -> later

configOf :: Mode -> Config
configOf mode = case mode of
  Run config _ _ -> config
  RunIters config _ _ _ -> config
  _ -> defaultConfig

-- | Options of criterion that this harness does not have. It refuses them, and does not ignore
-- them.
refused :: Config -> Config -> [String]
refused defaults config =
  ["--raw: the observations are written by --json" | rawDataFile config /= rawDataFile defaults]
    ++ ["--template: the report has one form" | template config /= template defaults]
