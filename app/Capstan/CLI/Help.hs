-- | Help that ends with examples, in the same form for all subcommands.
module Capstan.CLI.Help
  ( Example (..),
    withExamples,
    servingOptions,
    jsonSwitch,
  )
where

import Capstan.CLI.Library (Serving (..), Substrate (..))
import Data.Char (isDigit)
import Options.Applicative
import Options.Applicative.Help.Chunk (extractChunk, stringChunk)
import Options.Applicative.Help.Pretty (indent, vsep)

-- | A command line, and its effect.
data Example = Example String String

-- | The last part of a help text.
withExamples :: [Example] -> InfoMod a
withExamples examples = footerDoc (Just (vsep (line "Examples:" : concatMap example examples)))
  where
    example (Example typed meaning) = [indent 2 (line typed), indent 6 (line meaning)]
    line = extractChunk . stringChunk

-- | The options for the runtime, which all subcommands that start programs share.
servingOptions :: Parser Serving
servingOptions =
  Serving
    <$> optional
      ( option
          threads
          ( long "threads" <> short 't' <> metavar "N[,N...]"
              <> help "Threads of a parallel region, for each level of nesting (sets OMP_NUM_THREADS)"
          )
      )
    <*> optional
      ( option
          substrate
          ( long "substrate" <> short 's' <> metavar "rts|pthread"
              <> completeWith ["rts", "pthread"]
              <> help "Source of threads: GHC's runtime system (rts) or the C library (pthread). Default: CAPSTAN_SUBSTRATE, else rts"
          )
      )
  where
    threads = eitherReader $ \text ->
      if not (null text) && all positive (commas text)
        then Right text
        else Left ("--threads takes numbers from 1, separated by commas, not \"" <> text <> "\"")
    positive digits = not (null digits) && all isDigit digits && any (/= '0') digits
    commas text = case break (== ',') text of
      (part, _ : rest) -> part : commas rest
      (part, []) -> [part]
    substrate = eitherReader $ \text -> case text of
      "rts" -> Right Rts
      "pthread" -> Right Pthread
      _ -> Left ("--substrate is rts or pthread, not \"" <> text <> "\"")

-- | @--json@.
jsonSwitch :: String -> Parser Bool
jsonSwitch meaning = switch (long "json" <> help meaning)
