-- | Resolves a name on the command line: to a file, and from a script to its interpreter.
module Capstan.CLI.Program
  ( Lookup (..),
    findProgram,
    Program (..),
    Image (..),
    examine,
    Privilege (..),
    privilegeOf,
    privilegeText,
  )
where

import Capstan.CLI.Elf (Elf, readElf)
import Capstan.CLI.Host (hasFileCapabilities)
import Capstan.CLI.OpenMP (isOpenMPSymbol)
import Control.Exception (IOException, try)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.Maybe (fromMaybe)
import System.Directory (doesDirectoryExist, doesFileExist, executable, getPermissions)
import System.Environment (lookupEnv)
import System.FilePath (isPathSeparator, takeFileName, (</>))
import System.IO (IOMode (..), withBinaryFile)
import System.Posix.Files
import System.Posix.User (getRealGroupID, getRealUserID)

-- | The result of looking for a program.
data Lookup
  = Found FilePath
  | -- | The file exists, but cannot be executed.
    NotExecutable FilePath
  | Missing
  deriving (Eq, Show)

-- | Looks for a program as execvp(3) does.
findProgram :: String -> IO Lookup
findProgram name
  | null name = pure Missing
  | any isPathSeparator name = search Missing [name]
  | otherwise = do
    path <- fromMaybe "/bin:/usr/bin" <$> lookupEnv "PATH"
    search Missing [if null directory then name else directory </> name | directory <- splitOn ':' path]
  where
    -- The first file that can be executed; if there is none, the first file that exists.
    search best candidates = case candidates of
      [] -> pure best
      file : rest -> do
        found <- judge file
        case (found, best) of
          (Found _, _) -> pure found
          (_, Missing) -> search found rest
          _ -> search best rest
    judge file = do
      aFile <- doesFileExist file
      aDirectory <- if aFile then pure False else doesDirectoryExist file
      usable <- if aFile then executable <$> getPermissions file else pure False
      pure $ case (usable, aFile || aDirectory) of
        (True, _) -> Found file
        (False, True) -> NotExecutable file
        _ -> Missing

splitOn :: Char -> String -> [String]
splitOn separator string = case break (== separator) string of
  (part, _ : rest) -> part : splitOn separator rest
  (part, []) -> [part]

-- | The kind of a file, for the system that executes it.
data Image
  = ElfImage Elf
  | -- | A script, with the words after @#!@.
    ScriptImage [String]
  | -- | Neither of the two; a shell may be able to run it.
    UnknownImage
  deriving (Show)

-- | A program: the file that the user named, the scripts between, and the last file, which runs.
data Program = Program
  { programFile :: FilePath,
    -- | The scripts between, with the outermost first; empty for a binary.
    programScripts :: [FilePath],
    programFinal :: FilePath,
    programImage :: Image
  }
  deriving (Show)

-- | Follows a script to its interpreter.
examine :: FilePath -> IO (Either String Program)
examine file = go [] file
  where
    go scripts current
      | length scripts > 4 = pure (Left (file <> ": too many interpreters, one behind the other"))
      | otherwise = do
        image <- imageOf current
        case image of
          ScriptImage (interpreter : arguments) -> do
            let next = followEnv interpreter arguments
            found <- findProgram next
            case found of
              Found path -> go (current : scripts) path
              NotExecutable path -> pure (Left (current <> ": its interpreter " <> path <> " cannot be executed"))
              Missing -> pure (Left (current <> ": its interpreter " <> next <> " does not exist"))
          _ ->
            pure . Right $
              Program
                { programFile = file,
                  programScripts = reverse scripts,
                  programFinal = current,
                  programImage = image
                }

-- @#!/usr/bin/env [-S] [NAME=VALUE...] python3@ stands for python3.
followEnv :: FilePath -> [String] -> FilePath
followEnv interpreter arguments
  | takeFileName interpreter /= "env" = interpreter
  | otherwise = case dropWhile skipped arguments of
    name : _ -> name
    [] -> interpreter
  where
    skipped word = take 1 word == "-" || '=' `elem` word

imageOf :: FilePath -> IO Image
imageOf file = do
  elf <- readElf isOpenMPSymbol file
  case elf of
    Just found -> pure (ElfImage found)
    Nothing -> do
      -- A pipe is not read, because the read could wait for ever.
      start <- try (getFileStatus file >>= beginning) :: IO (Either IOException B.ByteString)
      pure $ case start of
        Right bytes | C.pack "#!" `B.isPrefixOf` bytes -> ScriptImage (words (takeWhile (/= '\n') (drop 2 (C.unpack bytes))))
        _ -> UnknownImage
  where
    beginning status
      | isRegularFile status = withBinaryFile file ReadMode (`B.hGet` 256)
      | otherwise = pure B.empty

-- | The reason why the loader does not trust the environment.
data Privilege = SetUser | SetGroup | FileCapabilities
  deriving (Eq, Show)

-- | Whether the file runs with raised privileges. Then the loader ignores @LD_PRELOAD@, and the
-- runtime ignores its own variables.
privilegeOf :: FilePath -> IO (Maybe Privilege)
privilegeOf file = do
  status <- try (getFileStatus file) :: IO (Either IOException FileStatus)
  case status of
    Left _ -> pure Nothing
    Right s -> do
      user <- getRealUserID
      group <- getRealGroupID
      let has mode = fileMode s `intersectFileModes` mode == mode
      capable <- hasFileCapabilities file
      pure $ case () of
        _
          | has setUserIDMode && fileOwner s /= user -> Just SetUser
          | has (setGroupIDMode `unionFileModes` groupExecuteMode) && fileGroup s /= group -> Just SetGroup
          | capable && user /= 0 -> Just FileCapabilities
          | otherwise -> Nothing

-- | The privilege as text, as in "PROGRAM is ...".
privilegeText :: Privilege -> String
privilegeText privilege = case privilege of
  SetUser -> "set-user-ID"
  SetGroup -> "set-group-ID"
  FileCapabilities -> "privileged by file capabilities"
