-- |
-- Module      : Capstan.Bench.Visible
-- Description : Texts of others, made fit for a terminal.
--
-- File names, reports of other processes and results of earlier runs may hold any character. Some of them
-- tell a terminal to do things, or let a text look like another one.
module Capstan.Bench.Visible
  ( visible,
    visibleText,
  )
where

import Data.Char (GeneralCategory (..), generalCategory, ord)
import Data.Text (Text)
import qualified Data.Text as Text
import Numeric (showHex)

-- | The text in one line, with an escape for each character that is not seen as itself: control characters,
-- those that change the direction of writing or have no width, and bytes that are control characters where
-- the text is no UTF-8 (GHC reads such a byte as a character from U+DC80 on).
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

-- | The same of a 'Text'.
visibleText :: Text -> Text
visibleText text
  | visible unpacked == unpacked = text
  | otherwise = Text.pack (visible unpacked)
  where
    unpacked = Text.unpack text
