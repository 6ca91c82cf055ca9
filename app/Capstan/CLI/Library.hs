-- | Where the runtime's libraries are, and the environment that makes a program
-- load them.
module Capstan.CLI.Library
  ( Library (..),
    findLibrary,
    locateLibrary,

    -- * The environment of a served program
    Serving (..),
    Substrate (..),
    substrateName,
    servingInputs,
    servingEnvironment,
    preloadValue,
    looksLikeOpenMP,
  )
where

import Capstan.CLI.Host (ownExecutable, plainLink)
import Capstan.CLI.Problem (throwProblem)
import Control.Monad (filterM, join)
import Data.List (intercalate, isInfixOf, isPrefixOf)
import Data.Maybe (isJust)
import System.Directory (canonicalizePath, doesFileExist)
import System.Environment (lookupEnv)
import System.Exit (ExitCode)
import System.FilePath

-- | The runtime as it lies on disk.
data Library = Library
  { -- | The real file of the OpenMP runtime.
    libraryRuntime :: FilePath,
    -- | The @rts@ substrate beside it, which is loaded on demand.
    librarySubstrate :: FilePath,
    -- | What notices libraries with pools that are loaded later, if it is there.
    libraryNotice :: FilePath
  }
  deriving (Eq, Show)

runtimeFile, substrateFile, noticeFile :: FilePath
runtimeFile = "libgomp.so.1.0.0"
substrateFile = "libcapstan-rts.so"
noticeFile = "libcapstan-adopt.so"

-- | The library for this executable, or what is wrong. @CAPSTAN_LIBDIR@ decides
-- where it is set; else the place depends on where this executable is.
locateLibrary :: IO (Either String Library)
locateLibrary = do
  chosen <- lookupEnv "CAPSTAN_LIBDIR"
  case chosen of
    Just directory | not (null directory) -> do
      absolute <- canonicalizePath directory
      found <- doesFileExist (absolute </> runtimeFile)
      pure $
        if found
          then Right (libraryIn absolute)
          else Left ("CAPSTAN_LIBDIR is " <> directory <> ", but there is no " <> runtimeFile)
    _ -> do
      self <- ownExecutable
      case self of
        Just file -> search [] (candidates (takeDirectory file))
        Nothing -> pure (Left "cannot find this command's own file, and so not the runtime beside it. Set CAPSTAN_LIBDIR to the directory that has it")

-- | 'locateLibrary', ending the command with that code if there is none.
findLibrary :: ExitCode -> IO Library
findLibrary code = locateLibrary >>= either (throwProblem code) pure

libraryIn :: FilePath -> Library
libraryIn directory = Library (directory </> runtimeFile) (directory </> substrateFile) (directory </> noticeFile)

-- The runtime has GCC's file name, so a directory counts only where the name
-- or the substrate beside it shows that it is ours: PREFIX/lib may hold GCC's.
-- The first argument: where it was looked for before, the last place first.
search :: [FilePath] -> [FilePath] -> IO (Either String Library)
search tried remaining = case remaining of
  [] ->
    pure . Left $
      "cannot find the runtime ("
        <> runtimeFile
        <> "); looked in "
        <> intercalate ", " (reverse tried)
        <> ". Set CAPSTAN_LIBDIR to the directory that has it"
  place : rest -> do
    directory <- canonicalizePath place
    let library = libraryIn directory
    hasRuntime <- doesFileExist (libraryRuntime library)
    hasSubstrate <- doesFileExist (librarySubstrate library)
    if hasRuntime && (hasSubstrate || takeFileName directory == "capstan")
      then pure (Right library)
      else search (directory : tried) rest

-- Installed, in the build tree of make, in the build tree of Cabal.
candidates :: FilePath -> [FilePath]
candidates bin =
  [bin </> ".." </> "lib" </> "capstan", bin </> ".." </> "lib"]
    <> concat [[root </> "build" </> "lib", root </> ".." </> "lib"] | Just root <- [cabalRoot (splitDirectories bin)]]

-- PROJECT/dist-newstyle/... -> PROJECT; make's is PROJECT/build/cabal/dist.
cabalRoot :: [FilePath] -> Maybe FilePath
cabalRoot parts = case break (`elem` ["dist-newstyle", "dist"]) parts of
  (root@(_ : _), _ : _) -> Just (joinPath root)
  _ -> Nothing

-- | Which substrate serves the program.
data Substrate = Rts | Pthread
  deriving (Eq, Show)

-- | Its name in @CAPSTAN_SUBSTRATE@.
substrateName :: Substrate -> String
substrateName substrate = case substrate of
  Rts -> "rts"
  Pthread -> "pthread"

-- | What a user asks of the runtime on the command line.
data Serving = Serving
  { -- | @OMP_NUM_THREADS@.
    servingThreads :: Maybe String,
    -- | @CAPSTAN_SUBSTRATE@.
    servingSubstrate :: Maybe Substrate
  }
  deriving (Eq, Show)

-- | A look into the environment for 'servingEnvironment', at the variables that it asks for. Reading all
-- costs a tenth of the command's time.
servingInputs :: IO (String -> Maybe String)
servingInputs = do
  found <- mapM (\name -> (,) name <$> lookupEnv name) ["LD_PRELOAD", "CAPSTAN_SUBSTRATE", "CAPSTAN_ADOPT"]
  pure (\name -> join (lookup name found))

-- | The variables to set, given a look into the environment as it is; or why the loader cannot be told.
servingEnvironment :: Library -> Serving -> (String -> Maybe String) -> IO (Either String [(String, String)])
servingEnvironment library serving environment = do
  notices <- doesFileExist (libraryNotice library)
  plain <- plainPath (libraryRuntime library)
  either (pure . Left) (fmap (Right . variables (notices && adopt /= "none")) . preloaded) plain
  where
    variables notices runtimes =
      ("LD_PRELOAD", preloadValue (runtimes <> [takeDirectory runtime </> noticeFile | notices, runtime <- take 1 runtimes]) (environment "LD_PRELOAD")) :
      [("CAPSTAN_SUBSTRATE", name) | Just name <- [substrate]]
        <> [("CAPSTAN_ADOPT", adopt)]
        <> [("OMP_NUM_THREADS", n) | Just n <- [servingThreads serving]]
    adopt = case environment "CAPSTAN_ADOPT" of
      Just given | not (null given) -> given
      _ -> "all"
    substrate = case servingSubstrate serving of
      Just chosen -> Just (substrateName chosen)
      Nothing
        | isJust (environment "CAPSTAN_SUBSTRATE") -> Nothing
        | otherwise -> Just (substrateName Rts)

-- What a file is called in LD_PRELOAD. There a blank or a colon ends a path, and $ORIGIN, $LIB and the like
-- stand for something else; nothing escapes them.
plainPath :: FilePath -> IO (Either String FilePath)
plainPath file
  | not (any (`elem` " :$") file) = pure (Right file)
  | otherwise = maybe (Left refusal) (Right . (</> name)) <$> plainLink folder name
  where
    (folder, name) = (takeDirectory file, takeFileName file)
    refusal =
      "the loader cannot preload "
        <> show file
        <> ": a blank, a colon or a $ in a path means something else to it, and no link to that directory could be made in "
        <> "XDG_RUNTIME_DIR, TMPDIR, /tmp, /var/tmp or /dev/shm"

-- The runtime, and what is called like LLVM's and Intel's (SONAME), and like what oneTBB asks for permits, and leads to it. The loader would look for these
-- names elsewhere otherwise, and load a second runtime.
preloaded :: FilePath -> IO [FilePath]
preloaded runtime = (runtime :) <$> filterM doesFileExist [takeDirectory runtime </> name | name <- ["libcapstan-llvm.so", "libcapstan-intel.so", "libcapstan-tcm.so"]]

-- | @LD_PRELOAD@ with our libraries, the runtime first, added to what the user preloads already.
--
-- Theirs keep their place, because some insist on being first (sanitizers);
-- but another OpenMP runtime before ours would be the one that serves.
preloadValue :: [FilePath] -> Maybe String -> String
preloadValue ours existing = unwords' (before <> missing <> after)
  where
    missing = filter (`notElem` present) ours
    present = maybe [] (split (`elem` " :")) existing
    (before, after) = break looksLikeOpenMP present
    unwords' = foldr1 (\a b -> a <> ":" <> b)

-- | Whether a file has the name of an OpenMP runtime.
looksLikeOpenMP :: FilePath -> Bool
looksLikeOpenMP file = any (`isPrefixOf` name) ["libgomp", "libomp", "libiomp"] && ".so" `isInfixOf` name
  where
    name = takeFileName file

split :: (a -> Bool) -> [a] -> [[a]]
split separator list = case break separator (dropWhile separator list) of
  ([], _) -> []
  (word, rest) -> word : split separator rest
