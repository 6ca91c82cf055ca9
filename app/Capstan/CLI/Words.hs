-- | The words of a runtime in another process: the numbers that it keeps for its own use. The
-- command reads them in that process's memory.
module Capstan.CLI.Words
  ( mappedFiles,
    wordNamed,
  )
where

import Data.Maybe (listToMaybe)
import Numeric (readHex)
import Text.Read (readMaybe)

-- | The addresses at which files begin in a process. The argument is the text of
-- @/proc/PID/maps@.
mappedFiles :: String -> [Integer]
mappedFiles text =
  [ base
    | range : _ : "00000000" : _ : _ : ('/' : _) : _ <- map words (lines text),
      (base, _) : _ <- [readHex (takeWhile (/= '-') range)]
  ]

-- | The number of a word in the answer of 'Capstan.CLI.Host.processWords', by its name.
wordNamed :: String -> String -> Maybe Int
wordNamed name answer = listToMaybe [n | count : rest <- map words (lines answer), unwords rest == name, Just n <- [readMaybe count]]
