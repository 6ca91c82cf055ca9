-- | The places of the runtime's libraries, and the environment that makes a program load them.
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

-- | The files of the runtime.
data Library = Library
  { -- | The real file of the OpenMP runtime.
    libraryRuntime :: FilePath,
    -- | The @rts@ substrate beside the runtime, which is loaded on demand.
    librarySubstrate :: FilePath,
    -- | The library that notices libraries with pools that are loaded later. It may be missing.
    libraryNotice :: FilePath
  }
  deriving (Eq, Show)

runtimeFile, substrateFile, noticeFile :: FilePath
runtimeFile = "libgomp.so.1.0.0"
substrateFile = "libcapstan-rts.so"
noticeFile = "libcapstan-adopt.so"

-- | The library for this executable, or an error message. @CAPSTAN_LIBDIR@ decides if it is set;
-- otherwise the place of this executable decides.
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

-- | As 'locateLibrary', but ends the command with the given code if there is no library.
findLibrary :: ExitCode -> IO Library
findLibrary code = locateLibrary >>= either (throwProblem code) pure

libraryIn :: FilePath -> Library
libraryIn directory = Library (directory </> runtimeFile) (directory </> substrateFile) (directory </> noticeFile)

-- The runtime has the file name of GCC's runtime, and PREFIX/lib may hold GCC's file. So a
-- directory counts only if its name or the substrate in it shows that the file is ours. The first
-- argument has the places that were searched before, the last place first.
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

-- The places of an installation, of make's build tree and of Cabal's build tree.
candidates :: FilePath -> [FilePath]
candidates bin =
  [bin </> ".." </> "lib" </> "capstan", bin </> ".." </> "lib"]
    <> concat [[root </> "build" </> "lib", root </> ".." </> "lib"] | Just root <- [cabalRoot (splitDirectories bin)]]

-- PROJECT/dist-newstyle/... -> PROJECT; make's is PROJECT/build/cabal/dist.
cabalRoot :: [FilePath] -> Maybe FilePath
cabalRoot parts = case break (`elem` ["dist-newstyle", "dist"]) parts of
  (root@(_ : _), _ : _) -> Just (joinPath root)
  _ -> Nothing

-- | The substrate that serves the program.
data Substrate = Rts | Pthread
  deriving (Eq, Show)

-- | The name of a substrate in @CAPSTAN_SUBSTRATE@.
substrateName :: Substrate -> String
substrateName substrate = case substrate of
  Rts -> "rts"
  Pthread -> "pthread"

-- | The settings of the runtime that the user gives on the command line.
data Serving = Serving
  { -- | @OMP_NUM_THREADS@.
    servingThreads :: Maybe String,
    -- | @CAPSTAN_SUBSTRATE@.
    servingSubstrate :: Maybe Substrate
  }
  deriving (Eq, Show)

-- | Reads those variables of the environment that 'servingEnvironment' needs. Reading all variables
-- would take a tenth of the command's time.
servingInputs :: IO (String -> Maybe String)
servingInputs = do
  found <- mapM (\name -> (,) name <$> lookupEnv name) ["LD_PRELOAD", "CAPSTAN_SUBSTRATE", "CAPSTAN_ADOPT"]
  pure (\name -> join (lookup name found))

-- | The variables to set for the program, or the reason why the loader cannot preload the runtime.
-- The function argument reads the present environment.
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

-- The name of a file in LD_PRELOAD. There a blank or a colon ends a path, and $ORIGIN, $LIB and
-- similar names are replaced. There is no way to escape these characters.
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

-- The files to preload: the runtime, and the files with the SONAMEs of LLVM's and Intel's runtimes
-- and of oneTBB's manager, which all lead to it. Without them the loader would look for these names
-- elsewhere, and load a second runtime.
preloaded :: FilePath -> IO [FilePath]
preloaded runtime = (runtime :) <$> filterM doesFileExist [takeDirectory runtime </> name | name <- ["libcapstan-llvm.so", "libcapstan-intel.so", "libcapstan-tcm.so"]]

-- | @LD_PRELOAD@ with our libraries, the runtime first, added to what the user preloads already.
--
-- The user's libraries keep their place, because some of them must be first (sanitizers). But ours
-- come before another OpenMP runtime, which would serve the program otherwise.
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
