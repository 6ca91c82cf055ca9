-- | The libraries that a program would load, according to the loader itself.
--
-- The command runs the loader as ldd(1) does. The loader then maps the libraries and follows all
-- its rules (run paths, environment, cache), but runs no code of the program or of its libraries.
module Capstan.CLI.Loader
  ( Listing (..),
    listLibraries,
    isTrustedLoader,
  )
where

import Capstan.CLI.Environment (withVariables)
import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar)
import Control.Exception (evaluate)
import Control.Monad (when)
import Data.Char (isSpace)
import Data.List (isPrefixOf, isSuffixOf)
import Data.Maybe (fromMaybe, isNothing)
import System.Exit (ExitCode (..))
import System.FilePath (takeDirectory, takeFileName)
import System.IO (hClose, hGetContents)
import System.Posix.Files (fileOwner, getFileStatus)
import System.Process
import System.Timeout (timeout)

-- | The loader's answer.
data Listing = Listing
  { -- | The name that is needed, and the file that the loader found, if any.
    listingLibraries :: [(String, Maybe FilePath)],
    -- | The complaints of the loader.
    listingComplaints :: [String],
    listingSucceeded :: Bool
  }
  deriving (Eq, Show)

-- | Asks the loader about a file, with the given variables added to the environment. A file may
-- name any number of libraries, so only the beginning of the answer is read.
listLibraries :: FilePath -> [(String, String)] -> FilePath -> IO Listing
listLibraries loader variables file = do
  environment <- withVariables ([("LC_ALL", "C"), ("LD_TRACE_LOADED_OBJECTS", "1")] <> variables)
  (code, output, complaints) <- askedBriefly (proc loader [absolute]) {env = Just environment}
  pure
    Listing
      { listingLibraries = parseListing output,
        listingComplaints = filter (not . all isSpace) (lines complaints),
        listingSucceeded = code == ExitSuccess
      }
  where
    -- The loader would search its library path for a name without a slash.
    absolute = if '/' `elem` file then file else "./" <> file

-- The exit code, and the first mebibyte of standard output and of standard error: some ten thousand
-- libraries. A loader that writes more finds the pipe closed. A loader that takes longer than ten
-- seconds is ended.
askedBriefly :: CreateProcess -> IO (ExitCode, String, String)
askedBriefly asked =
  withCreateProcess asked {std_in = NoStream, std_out = CreatePipe, std_err = CreatePipe} $ \_ output errors process -> do
    [said, complained] <- mapM (beginning . fromMaybe (error "Capstan.CLI.Loader: a pipe was asked for")) [output, errors]
    texts <- timeout (10 * 1000 * 1000) ((,) <$> takeMVar said <*> takeMVar complained)
    when (isNothing texts) (terminateProcess process)
    code <- waitForProcess process
    pure (maybe (code, "", "the loader did not answer within 10 s") (\(a, b) -> (code, a, b)) texts)
  where
    most = 1024 * 1024
    beginning handle = do
      text <- newEmptyMVar
      _ <- forkIO (hGetContents handle >>= \all' -> let part = take most all' in evaluate (length part) >> hClose handle >> putMVar text part)
      pure text

-- | Whether the command may run a loader. A program names its own loader, which may be any file.
-- The command runs only a loader that belongs to the system and has the name of glibc's loader.
isTrustedLoader :: FilePath -> IO Bool
isTrustedLoader loader
  | not ("ld-linux" `isPrefixOf` takeFileName loader || "ld64" `isPrefixOf` takeFileName loader) = pure False
  | otherwise = do
    file <- getFileStatus loader
    directory <- getFileStatus (takeDirectory loader)
    pure (fileOwner file == 0 && fileOwner directory == 0)

-- One line for each library.
parseListing :: String -> [(String, Maybe FilePath)]
parseListing = concatMap (line . words) . lines
  where
    line fields = case fields of
      [name, "=>", "not", "found"] -> [(name, Nothing)]
      name : "=>" : rest -> [(name, Just (path rest))]
      name@('/' : _) : _ -> [(name, Just name)]
      _ -> []
    -- The path may have blanks; the address at the end has none.
    path rest = unwords (if not (null rest) && isAddress (last rest) then init rest else rest)
    isAddress word = "(0x" `isPrefixOf` word && ")" `isSuffixOf` word
