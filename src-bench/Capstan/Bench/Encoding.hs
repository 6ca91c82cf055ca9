-- |
-- Module      : Capstan.Bench.Encoding
-- Description : UTF-8 for input and output, whatever the locale.
--
-- Output has the sign µs, and names in any language. In the C locale neither could be printed, and
-- a user could not ask for a name in another alphabet. GHC keeps bytes that its locale does not
-- know as special characters (U+DC80 to U+DCFF); this module turns them back into bytes.
module Capstan.Bench.Encoding
  ( speakUtf8,
    fromBytes,
    writeText,
  )
where

import qualified Data.ByteString.Builder as Builder
import qualified Data.ByteString.Lazy as Bytes
import Data.Char (ord)
import qualified Data.Text as Text
import Data.Text.Encoding (decodeUtf8')
import qualified Data.Text.Lazy as Lazy
import qualified Data.Text.Lazy.IO as Lazy
import GHC.IO.Encoding.Failure (CodingFailureMode (RoundtripFailure))
import GHC.IO.Encoding.UTF8 (mkUTF8)
import System.IO (IOMode (..), hSetEncoding, stderr, stdout, utf8, withFile)

-- | Lets this process write UTF-8 on its standard output and error.
speakUtf8 :: IO ()
speakUtf8 = mapM_ (`hSetEncoding` mkUTF8 RoundtripFailure) [stdout, stderr]

-- | Decodes a text from the command line, the environment or the file system as UTF-8. Returns the
-- text unchanged if it is not UTF-8.
fromBytes :: String -> String
fromBytes text
  | any isByte text = either (const text) Text.unpack (decodeUtf8' (Bytes.toStrict (Builder.toLazyByteString (foldMap encoded text))))
  | otherwise = text
  where
    isByte c = c >= '\xdc80' && c <= '\xdcff'
    encoded c
      | isByte c = Builder.word8 (fromIntegral (ord c - 0xdc00))
      | otherwise = Builder.charUtf8 c

-- | Writes a file in UTF-8, whatever the locale.
writeText :: FilePath -> Lazy.Text -> IO ()
writeText file content = withFile file WriteMode $ \to -> hSetEncoding to utf8 >> Lazy.hPutStr to content
