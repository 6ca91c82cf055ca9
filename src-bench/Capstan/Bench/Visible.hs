-- |
-- Module      : Capstan.Bench.Visible
-- Description : Makes foreign texts safe to show on a terminal.
--
-- File names, reports of other processes and results of earlier runs may hold any character. Some
-- characters control a terminal, or make a text look like another text.
module Capstan.Bench.Visible
  ( visible,
    visibleText,
  )
where

import Data.Char (GeneralCategory (..), generalCategory, ord)
import Data.Text (Text)
import qualified Data.Text as Text
import Numeric (showHex)

-- | The text in one line, with an escape for each character that would not be visible as itself.
-- These are control characters, and characters that change the direction of writing or have no
-- width. In a text that is not UTF-8 they are also bytes that are control characters (GHC reads
-- such a byte as a character from U+DC80 on).
visible :: String -> String
visible = concatMap shown
  where
    shown c = case c of
      '\n' -> "\\n"
      '\t' -> "\\t"
      _
        | c >= '\xdc80' && c <= '\xdc9f' -> byte (ord c - 0xdc00)
        | generalCategory c `notElem` [Control, Format, LineSeparator, ParagraphSeparator] -> [c]
        | ord c < 0x100 -> byte (ord c)
        | otherwise -> "\\u{" <> showHex (ord c) "}"
    byte n = "\\x" <> [d | n < 16, d <- "0"] <> showHex n ""

-- | As 'visible', for a 'Text'.
visibleText :: Text -> Text
visibleText text
  | visible unpacked == unpacked = text
  | otherwise = Text.pack (visible unpacked)
  where
    unpacked = Text.unpack text
