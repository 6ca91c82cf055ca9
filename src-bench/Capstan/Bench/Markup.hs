{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Markup
-- Description : Elements, attributes and escaped text: what the page is made of.
module Capstan.Bench.Markup
  ( Node,
    el,
    (=:),
    (=.),
    words',
    render,
  )
where

import Data.Text (Text)
import qualified Data.Text as Text
import qualified Data.Text.Lazy as Lazy
import Data.Text.Lazy.Builder (Builder, fromText, toLazyText)
import Numeric (showFFloat)

data Node = Element Text [(Text, Text)] [Node] | Words Text

el :: Text -> [(Text, Text)] -> [Node] -> Node
el = Element

(=:) :: Text -> Text -> (Text, Text)
(=:) = (,)

-- | A coordinate.
(=.) :: Text -> Double -> (Text, Text)
name =. x = (name, Text.pack (showFFloat (Just 1) x ""))

infix 8 =:, =.

words' :: Text -> Node
words' = Words

-- | A whole document.
render :: Node -> Lazy.Text
render node = toLazyText ("<!DOCTYPE html>\n" <> build node)

build :: Node -> Builder
build (Words text) = fromText (escape text)
build (Element name attributes children)
  | null children && name `elem` ["meta", "rect", "line", "circle", "path"] = open <> "/>"
  | otherwise = open <> ">" <> foldMap build children <> "</" <> fromText name <> ">" <> (if name `elem` ["tr", "p", "svg", "section", "style"] then "\n" else "")
  where
    open = "<" <> fromText name <> foldMap (\(key, value) -> " " <> fromText key <> "=\"" <> fromText (escape value) <> "\"") attributes

escape :: Text -> Text
escape = Text.concatMap one
  where
    one '<' = "&lt;"
    one '>' = "&gt;"
    one '&' = "&amp;"
    one '"' = "&quot;"
    one c = Text.singleton c
