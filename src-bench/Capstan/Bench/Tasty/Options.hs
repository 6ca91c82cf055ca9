-- |
-- Module      : Capstan.Bench.Tasty.Options
-- Description : The options that benchmarks add to those of tasty.
module Capstan.Bench.Tasty.Options
  ( Rounds (..),
    TimeLimit (..),
    Tolerance (..),
    Baseline (..),
    JsonFile (..),
    CsvFile (..),
    Against (..),
    descriptions,
  )
where

import Data.Proxy (Proxy (..))
import Test.Tasty.Options (IsOption (..), OptionDescription (..), safeRead)
import Test.Tasty.Patterns.Types (Expr)

-- | Processes of a benchmark that measure time, half of them: each round has two.
newtype Rounds = Rounds Int

-- | The seconds for one benchmark in all its processes together.
newtype TimeLimit = TimeLimit Double

-- | The part by which a figure may exceed the baseline's figure.
newtype Tolerance = Tolerance Double

newtype Baseline = Baseline (Maybe FilePath)

newtype JsonFile = JsonFile (Maybe FilePath)

newtype CsvFile = CsvFile (Maybe FilePath)

-- | The pattern of the benchmark that another one is compared with. It is no option of the command
-- line: the tree has it.
newtype Against = Against (Maybe Expr)

-- | The options of the command line.
descriptions :: [OptionDescription]
descriptions =
  [ Option (Proxy :: Proxy Rounds),
    Option (Proxy :: Proxy TimeLimit),
    Option (Proxy :: Proxy Baseline),
    Option (Proxy :: Proxy Tolerance),
    Option (Proxy :: Proxy JsonFile),
    Option (Proxy :: Proxy CsvFile)
  ]

instance IsOption Rounds where
  defaultValue = Rounds 3
  parseValue text = safeRead text >>= \n -> if n < 1 then Nothing else Just (Rounds n)
  optionName = pure "rounds"
  optionHelp = pure "Rounds of each benchmark, of two processes each; 1 or more"
  showDefaultValue (Rounds n) = Just (show n)

instance IsOption TimeLimit where
  defaultValue = TimeLimit 5
  parseValue text = safeRead text >>= \x -> if x > 0 && x < 1 / 0 then Just (TimeLimit x) else Nothing
  optionName = pure "time-limit"
  optionHelp = pure "Seconds for each benchmark, in all its processes together; above 0"
  showDefaultValue (TimeLimit x) = Just (show x)

instance IsOption Tolerance where
  defaultValue = Tolerance 0.05
  parseValue text = safeRead text >>= \x -> if x >= 0 then Just (Tolerance (x / 100)) else Nothing
  optionName = pure "tolerance"
  optionHelp = pure "Percentage by which a figure may exceed the baseline's; 0 or more"
  showDefaultValue (Tolerance x) = Just (show (100 * x))

instance IsOption Baseline where
  defaultValue = Baseline Nothing
  parseValue = Just . Baseline . Just
  optionName = pure "baseline"
  optionHelp = pure "A file of --json; a benchmark fails where it became slower"

instance IsOption JsonFile where
  defaultValue = JsonFile Nothing
  parseValue = Just . JsonFile . Just
  optionName = pure "json"
  optionHelp = pure "Write all observations of the benchmarks to this file, for --baseline"

instance IsOption CsvFile where
  defaultValue = CsvFile Nothing
  parseValue = Just . CsvFile . Just
  optionName = pure "csv"
  optionHelp = pure "Write the figures of the benchmarks to this file"

instance IsOption Against where
  defaultValue = Against Nothing
  parseValue _ = Nothing
  optionName = pure "against"
  optionHelp = pure "The benchmark to compare with"
