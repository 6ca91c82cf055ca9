-- | Reads and writes JSON with texts from file names, arguments and environments, which may be any
-- bytes.
module Capstan.CLI.Json
  ( putJson,
    decodeLine,
  )
where

import Data.Aeson (Encoding, FromJSON, decodeStrict)
import Data.Aeson.Encoding (encodingToLazyByteString)
import qualified Data.ByteString as B
import qualified Data.ByteString.Lazy as L
import qualified Data.Text.Encoding as T
import qualified Data.Text.Encoding.Error as T
import System.IO (Handle)

-- | Writes one document and a line end. Bytes that are not UTF-8 become replacement characters, as
-- JSON cannot represent them.
putJson :: Handle -> Encoding -> IO ()
putJson handle document = B.hPut handle (B.snoc (toUtf8 (L.toStrict (encodingToLazyByteString document))) 10)

-- | Reads one document. Bytes that are not UTF-8 become replacement characters.
decodeLine :: FromJSON a => B.ByteString -> Maybe a
decodeLine = decodeStrict . toUtf8

toUtf8 :: B.ByteString -> B.ByteString
toUtf8 = T.encodeUtf8 . T.decodeUtf8With T.lenientDecode
