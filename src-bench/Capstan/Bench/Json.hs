-- |
-- Module      : Capstan.Bench.Json
-- Description : JSON from files that other programs may have written.
--
-- A parser of JSON calls itself for each bracket, and takes twenty times the memory of the text. So
-- this module checks the size and the depth first.
module Capstan.Bench.Json
  ( readJson,
    decodeJson,
  )
where

import Control.Exception (IOException, try)
import Data.Aeson (FromJSON, eitherDecodeStrict')
import qualified Data.ByteString as B
import Data.Word (Word8)
import System.IO (IOMode (..), withBinaryFile)
import System.IO.Error (ioeGetErrorString)

-- | The largest size in bytes: results of some hours have a hundredth of it.
mostBytes :: Int
mostBytes = 128 * 1024 * 1024

-- | The largest depth of brackets: results have seven.
mostDepth :: Int
mostDepth = 64

-- | The value of a file, or the reason why it cannot be read.
readJson :: FromJSON a => FilePath -> IO (Either String a)
readJson file = do
  contents <- try (withBinaryFile file ReadMode (\from -> B.hGet from (mostBytes + 1))) :: IO (Either IOException B.ByteString)
  pure (either (Left . ioeGetErrorString) decodeJson contents)

-- | The value of a text, or the reason why it cannot be read.
decodeJson :: FromJSON a => B.ByteString -> Either String a
decodeJson text
  | B.length text > mostBytes = Left ("JSON of more than " ++ show mostBytes ++ " bytes")
  | isTooDeep text = Left ("JSON with brackets nested more than " ++ show mostDepth ++ " deep")
  | otherwise = eitherDecodeStrict' text

data Scan = Scan !Int !Int !Within

-- | The place of a character: brackets in strings do not count, and a quotation mark after a
-- backslash does not end a string.
data Within = Outside | InString | Escaped

-- | Whether brackets are nested too deeply, outside of strings.
isTooDeep :: B.ByteString -> Bool
isTooDeep text = deepest (B.foldl' step (Scan 0 0 Outside) text) > mostDepth
  where
    deepest (Scan _ most _) = most

step :: Scan -> Word8 -> Scan
step (Scan depth most within) c = case within of
  Escaped -> Scan depth most InString
  InString
    | c == 92 -> Scan depth most Escaped
    | c == 34 -> Scan depth most Outside
    | otherwise -> Scan depth most InString
  Outside
    | c == 34 -> Scan depth most InString
    | c == 91 || c == 123 -> Scan (depth + 1) (max most (depth + 1)) Outside
    | c == 93 || c == 125 -> Scan (depth - 1) most Outside
    | otherwise -> Scan depth most Outside
