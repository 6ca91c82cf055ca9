{-# LANGUAGE OverloadedStrings #-}

-- | The process that a user means by a number. A user who starts a program by @capstan run --report@ gets the number of
-- the command, which waits for the program. The program is meant.
module Capstan.CLI.Meant (meantProcess) where

import Control.Exception (IOException, try)
import qualified Data.ByteString.Char8 as C
import System.FilePath (takeFileName)

-- | The program, if the process is a @capstan run@ that waits for one; else the process itself.
meantProcess :: Int -> IO Int
meantProcess pid = do
  arguments <- C.split '\0' <$> contents "/cmdline"
  children <- C.words <$> contents ("/task/" <> show pid <> "/children")
  pure $ case (arguments, children) of
    (command : "run" : _, [child]) | takeFileName (C.unpack command) == "capstan", Just (number, "") <- C.readInt child -> number
    _ -> pid
  where
    contents name = either none id <$> try (C.readFile ("/proc/" <> show pid <> name))
    none :: IOException -> C.ByteString
    none = const C.empty
