-- |
-- Module      : Capstan.Bench.Options
-- Description : Criterion's command line, and ours beside it.
module Capstan.Bench.Options
  ( Options (..),
    optionsFor,
    parseOptions,
    refused,
  )
where

import Criterion.Main.Options (Mode (..), parseWith)
import Criterion.Types (Config (..))
import Data.Word (Word64)
import Options.Applicative

data Options = Options
  { optionRounds :: !Int,
    optionSeed :: !Word64,
    optionBaseline :: Maybe FilePath,
    -- | The part by which a figure may be larger than the baseline's.
    optionTolerance :: !Double,
    optionStrict :: !Bool,
    optionMode :: Mode
  }

-- | The defaults.
optionsFor :: Mode -> Options
optionsFor = Options 3 1 Nothing 0.05 False

-- | Ends the program when the arguments are not understood, as criterion does.
parseOptions :: Config -> IO Options
parseOptions config = customExecParser preferences (info (helper <*> options) description)
  where
    preferences = prefs showHelpOnError
    description =
      fullDesc
        <> header "Benchmarks in fresh processes and shuffled order, with a diagnosis"
        <> footer "Exit code: 0; 1 if a benchmark failed, is slower than the baseline, or with --strict if there is a diagnosis; 64 for a name that matches nothing, a baseline that cannot be read, a file in a folder that is not there, or an option of criterion's that is not supported (--raw, --template)."
    options =
      Options
        <$> option positive (long "rounds" <> metavar "N" <> value 3 <> showDefault <> help "Processes of each benchmark, and orders of all of them in one process")
        <*> option auto (long "seed" <> metavar "N" <> value 1 <> showDefault <> help "Of the shuffled orders")
        <*> optional (strOption (long "baseline" <> metavar "FILE" <> help "Compare with a file that --json wrote"))
        <*> (fmap (/ 100) . option auto) (long "tolerance" <> metavar "PERCENT" <> value 5 <> showDefault <> help "By how much a figure may exceed the baseline's")
        <*> switch (long "strict" <> help "A diagnosis is a failure")
        <*> parseWith config
    positive = do
      n <- auto
      if n < 1 then readerError "a number from 1" else pure n

-- | Options of criterion's that this harness does not have. They are refused, not ignored.
refused :: Config -> Config -> [String]
refused defaults config =
  ["--raw: the observations are written by --json" | rawDataFile config /= rawDataFile defaults]
    ++ ["--template: the report has one form" | template config /= template defaults]
