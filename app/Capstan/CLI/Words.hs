-- | The words of a runtime in another process: the numbers that it keeps for its own use. The
-- command reads them in that process's memory.
module Capstan.CLI.Words
  ( findWords,
    wordNamed,
  )
where

import Capstan.CLI.Host (processWords)
import Data.Maybe (listToMaybe)
import Foreign.C.Error (Errno, eNOENT, ePERM)
import Numeric (readHex)
import Text.Read (readMaybe)

-- | The runtime in a process: the address of the file that holds it, and the answer of
-- 'processWords'. The text is that of @/proc/PID/maps@. Without a runtime the error is 'eNOENT'.
findWords :: Int -> String -> IO (Either Errno (Integer, String))
findWords pid = look . fileAddresses
  where
    look [] = pure (Left eNOENT)
    look (base : others) = do
      told <- processWords pid base
      case told of
        Right text -> pure (Right (base, text))
        Left problem | problem == ePERM -> pure (Left problem)
        Left _ -> look others -- another file, or one that is not complete yet

-- | The addresses at which files begin in a process.
fileAddresses :: String -> [Integer]
fileAddresses text =
  [ base
    | range : _ : "00000000" : _ : _ : ('/' : _) : _ <- map words (lines text),
      (base, _) : _ <- [readHex (takeWhile (/= '-') range)]
  ]

-- | The number of a word in the answer of 'Capstan.CLI.Host.processWords', by its name.
wordNamed :: String -> String -> Maybe Int
wordNamed name answer = listToMaybe [n | count : rest <- map words (lines answer), unwords rest == name, Just n <- [readMaybe count]]
