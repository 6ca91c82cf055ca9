{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Markup
-- Description : Just enough HTML and SVG: elements, attributes, escaped text.
--
-- Shared with the reports of @capstan bench@.
module Capstan.Bench.Markup
  ( Node,
    Attribute,
    element,
    text,
    (=:),
    (=.),
    render,
  )
where

import Data.Text (Text)
import qualified Data.Text as Text
import qualified Data.Text.Lazy as Lazy
import Data.Text.Lazy.Builder (Builder, fromText, toLazyText)
import Numeric (showFFloat)

data Node = Element Text [Attribute] [Node] | Words Text

type Attribute = (Text, Text)

element :: Text -> [Attribute] -> [Node] -> Node
element = Element

text :: Text -> Node
text = Words

(=:) :: Text -> Text -> Attribute
(=:) = (,)

-- | A coordinate: a tenth of a pixel is enough.
(=.) :: Text -> Double -> Attribute
name =. x = (name, Text.pack (trimmed (showFFloat (Just 1) x "")))
  where
    trimmed s = if drop (length s - 2) s == ".0" then take (length s - 2) s else s

infix 8 =:, =.

render :: Node -> Lazy.Text
render = toLazyText . build

build :: Node -> Builder
build (Words words') = fromText (escape words')
build (Element name attributes children)
  | null children && name `elem` void = "<" <> fromText name <> foldMap attribute attributes <> "/>"
  | otherwise = "<" <> fromText name <> foldMap attribute attributes <> ">" <> foldMap build children <> "</" <> fromText name <> ">" <> newline
  where
    void = ["circle", "line", "rect", "path", "polyline", "meta", "br"]
    newline = if name `elem` ["tr", "svg", "table", "section", "p", "h2", "h3", "g", "style"] then "\n" else ""

attribute :: Attribute -> Builder
attribute (name, value) = " " <> fromText name <> "=\"" <> fromText (escape value) <> "\""

escape :: Text -> Text
escape = Text.concatMap one
  where
    one '<' = "&lt;"
    one '>' = "&gt;"
    one '&' = "&amp;"
    one '"' = "&quot;"
    one c = Text.singleton c
