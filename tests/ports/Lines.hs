-- | The number of lines of a program that its port has changed.
module Lines (changed, code) where

import Data.Char (isSpace)
import Data.List (foldl')

-- | The number of lines that were replaced, added or deleted: the distance of the two texts, in
-- lines. Imports, comments and the module's name do not count.
changed :: String -> String -> Int
changed before after = last (foldl' row [0 .. length new] (code before))
  where
    new = code after
    -- The distances from one more line of the old text to each beginning of the new text.
    row distances line = scanl step (head distances + 1) (zip3 new distances (tail distances))
      where
        step left (line', corner, above) = minimum [left + 1, above + 1, if line == line' then corner else corner + 1]

-- | The lines that count.
code :: String -> [String]
code = go . filter (not . all isSpace) . lines
  where
    go [] = []
    go (line : rest) = case takeWhile (not . isSpace) (dropWhile isSpace line) of
      "import" -> go (dropWhile (isSpace . head) rest)
      "module" -> go (dropWhile (isSpace . head) rest)
      "--" -> go rest
      "(*" -> go rest
      _ -> line : go rest
