-- |
-- Module      : Capstan.Bench.Encoding
-- Description : UTF-8 in and out, whatever the locale is.
--
-- Figures are in µs, and names in any language. Under the locale of C neither could be printed, and no
-- name in another alphabet could be asked for. GHC keeps bytes that its locale does not know as characters
-- of their own (U+DC80 to U+DCFF); here these are the bytes again.
module Capstan.Bench.Encoding
  ( speakUtf8,
    fromBytes,
  )
where

import qualified Data.ByteString.Builder as Builder
import qualified Data.ByteString.Lazy as Bytes
import Data.Char (ord)
import qualified Data.Text as Text
import Data.Text.Encoding (decodeUtf8')
import GHC.IO.Encoding.Failure (CodingFailureMode (RoundtripFailure))
import GHC.IO.Encoding.UTF8 (mkUTF8)
import System.IO (hSetEncoding, stderr, stdout)

-- | Lets this process write UTF-8 on its standard output and error.
speakUtf8 :: IO ()
speakUtf8 = mapM_ (`hSetEncoding` mkUTF8 RoundtripFailure) [stdout, stderr]

-- | What a text from the command line, the environment or the file system says in UTF-8; the text itself where it is none.
fromBytes :: String -> String
fromBytes text
  | any isByte text = either (const text) Text.unpack (decodeUtf8' (Bytes.toStrict (Builder.toLazyByteString (foldMap encoded text))))
  | otherwise = text
  where
    isByte c = c >= '\xdc80' && c <= '\xdcff'
    encoded c
      | isByte c = Builder.word8 (fromIntegral (ord c - 0xdc00))
      | otherwise = Builder.charUtf8 c
