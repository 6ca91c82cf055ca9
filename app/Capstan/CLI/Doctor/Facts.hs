-- | The facts that @capstan doctor@ gathers, before any judgement.
module Capstan.CLI.Doctor.Facts
  ( Facts (..),
    Subject (..),
    ProgramFacts (..),
    Reach (..),
    ProcessFacts (..),
    Limit (..),
    gatherFacts,
    gatherProgram,
    gatherDirectory,
    gatherProcess,
  )
where

import Capstan.CLI.Elf
import Capstan.CLI.Host (ownExecutable)
import Capstan.CLI.Library
import Capstan.CLI.Loader
import Capstan.CLI.OpenMP
import Capstan.CLI.Probe
import Capstan.CLI.Problem
import Capstan.CLI.Program
import Capstan.CLI.Words (findWords, wordNamed)
import Control.Exception (IOException, try)
import Control.Monad (filterM, (>=>))
import Data.Char (isDigit, isSpace)
import Data.Containers.ListUtils (nubOrd)
import Data.Either (fromRight)
import Data.List (dropWhileEnd, isInfixOf, isSuffixOf)
import Data.Maybe (catMaybes, fromMaybe, mapMaybe)
import System.Directory (canonicalizePath, doesDirectoryExist, doesFileExist, listDirectory, pathIsSymbolicLink)
import System.Exit (ExitCode (..))
import System.FilePath (takeFileName, (</>))
import System.IO (IOMode (..), hGetContents, withFile)
import System.Posix.Env (getEnvironment)
import Text.Read (readMaybe)

-- | A soft limit on a resource.
data Limit = Unlimited | Limited Integer
  deriving (Eq, Show)

-- | All facts.
data Facts = Facts
  { factsLibrary :: Either String Library,
    factsSettings :: Either String Settings,
    -- | The result of one region on the @rts@ substrate.
    factsTrial :: Maybe Trial,
    factsOnline :: Maybe Int,
    -- | Limits by their names in @/proc/self/limits@.
    factsLimits :: [(String, Limit)],
    factsEnvironment :: [(String, String)],
    -- | The entry points that the runtime to be preloaded offers.
    factsOffers :: Calls,
    factsSubject :: Subject
  }
  deriving (Show)

-- | The subject that the user named.
data Subject
  = -- | Only this machine and this installation.
    NoSubject
  | ProgramSubject ProgramFacts
  | -- | A directory of libraries, such as a Python package.
    DirectorySubject FilePath [Object]
  | ProcessSubject ProcessFacts
  deriving (Show)

-- | A program on disk.
data ProgramFacts = ProgramFacts
  { programFacts :: Program,
    programPrivilege :: Maybe Privilege,
    programReach :: Reach
  }
  deriving (Show)

-- | How far the loader, and so a preloaded library, reaches into a program.
data Reach
  = -- | The program has no loader.
    ReachStatic
  | -- | The program is for another processor.
    ReachOtherMachine
  | -- | Its loader is not glibc's, or it is a file that the command must not run.
    ReachOtherLoader FilePath
  | -- | The file is no ELF file.
    ReachNoBinary
  | -- | The libraries that it loads by itself, their objects, and the libraries that it loads with
    -- the runtime preloaded.
    Reached Listing [Object] (Maybe Listing)
  deriving (Show)

-- | A running process.
data ProcessFacts = ProcessFacts
  { processId :: Int,
    processProgram :: FilePath,
    processObjects :: [Object],
    processThreads :: Int,
    -- | The threads in regions, and the processors, as Capstan counts them in the process. Absent
    -- if another file than this command's runtime serves the process.
    processBusy :: Maybe (Int, Int),
    -- | The variables of the process that an OpenMP runtime reads.
    processVariables :: [(String, String)]
  }
  deriving (Show)

-- | Gathers facts about the machine and the installation, and adds the subject.
gatherFacts :: Subject -> IO Facts
gatherFacts subject = do
  library <- locateLibrary
  environment <- getEnvironment
  let ask serving = either (pure . Left) (\l -> servingEnvironment l serving (`lookup` environment)) library
  settings <- ask (Serving Nothing Nothing) >>= either (pure . Left) askSettings
  trial <- ask (Serving Nothing (Just Rts)) >>= either (const (pure Nothing)) (fmap Just . tryRegion)
  online <- readProc "/sys/devices/system/cpu/online"
  limits <- readProc "/proc/self/limits"
  runtime <- either (const (pure Nothing)) (readElf isOpenMPSymbol . libraryRuntime) library
  pure
    Facts
      { factsLibrary = library,
        factsSettings = settings,
        factsTrial = trial,
        factsOnline = online >>= parseCpuList,
        factsLimits = maybe [] parseLimits limits,
        factsEnvironment = environment,
        factsOffers =
          maybe
            (Calls False False False)
            objectOffers
            (runtime >>= classify "libgomp.so.1.0.0"),
        factsSubject = subject
      }

-- | The beginning of a file of the kernel. The file may belong to another process, which decides
-- its length.
readProc :: FilePath -> IO (Maybe String)
readProc file = do
  result <- try (withFile file ReadMode (fmap (take mostProc) . hGetContents >=> \text -> length text `seq` pure text)) :: IO (Either IOException String)
  pure (either (const Nothing) Just result)
  where
    mostProc = 4 * 1024 * 1024

-- | A program by name, or a shared library by path.
gatherProgram :: String -> IO Subject
gatherProgram name = do
  found <- findProgram name
  file <- case found of
    Found path -> pure path
    NotExecutable path -> pure path
    Missing -> throwProblem noInput ("cannot find " <> name)
  examined <- examine file
  program <- either (throwProblem noInput) pure examined
  privilege <- privilegeOf (programFinal program)
  reach <- case programImage program of
    ElfImage elf -> reachOf (programFinal program) elf
    _ -> pure ReachNoBinary
  pure (ProgramSubject (ProgramFacts program privilege reach))

-- This command, as an example of what its loader loads.
ownElf :: IO (Maybe Elf)
ownElf = ownExecutable >>= maybe (pure Nothing) (readElf (const False))

reachOf :: FilePath -> Elf -> IO Reach
reachOf file elf = do
  self <- ownElf
  case self of
    Just own
      | not (isNative own elf) -> pure ReachOtherMachine
      | Nothing <- elfBody elf -> pure ReachStatic
      | Nothing <- elfInterpreter elf,
        Nothing <- elfBody elf >>= bodySoname ->
        if maybe True (null . bodyNeeded) (elfBody elf) then pure ReachStatic else ask own
      | otherwise -> ask own
    Nothing -> ask elf
  where
    -- A library has no loader of its own; this command's loader stands in for it.
    ask own = do
      let loader = fromMaybe "" (elfInterpreter (maybe own (const elf) (elfInterpreter elf)))
          sameName = fmap takeFileName (elfInterpreter own) == Just (takeFileName loader)
      trusted <- try (isTrustedLoader loader) :: IO (Either IOException Bool)
      if sameName && trusted == Right True
        then reached loader
        else pure (ReachOtherLoader loader)
    reached loader = do
      listing <- listLibraries loader [] file
      objects <- classifyFiles (file : mapMaybe snd (listingLibraries listing))
      library <- locateLibrary
      environment <- getEnvironment
      variables <- either (pure . Left) (\l -> servingEnvironment l (Serving Nothing Nothing) (`lookup` environment)) library
      served <- either (const (pure Nothing)) (\set -> Just <$> listLibraries loader set file) variables
      pure (Reached listing objects served)

classifyFiles :: [FilePath] -> IO [Object]
classifyFiles files = do
  absolute <- nubOrd <$> mapM canonicalizePath files
  catMaybes <$> mapM one absolute
  where
    one file = (>>= classify file) <$> readElf isObjectSymbol file

-- | The libraries below a directory, and those that they load.
gatherDirectory :: FilePath -> IO Subject
gatherDirectory directory = do
  files <- librariesBelow directory
  self <- ownElf
  needed <- case self >>= elfInterpreter of
    Just loader -> mapM (fmap (mapMaybe snd . listingLibraries) . listLibraries loader []) files
    Nothing -> pure []
  DirectorySubject directory <$> classifyFiles (files <> nubOrd (concat needed))

librariesBelow :: FilePath -> IO [FilePath]
librariesBelow directory = do
  listed <- try (listDirectory directory) :: IO (Either IOException [FilePath])
  let entries = map (directory </>) (fromRight [] listed)
  real <- filterM (fmap not . pathIsSymbolicLink) entries
  directories <- filterM doesDirectoryExist real
  files <- filterM doesFileExist (filter isLibrary real)
  (files <>) . concat <$> mapM librariesBelow directories
  where
    isLibrary file = ".so" `isSuffixOf` file || ".so." `isInfixOf` takeFileName file

-- | A running process.
gatherProcess :: Int -> IO Subject
gatherProcess pid = do
  let here = "/proc/" <> show pid
  mounted <- doesFileExist "/proc/self/stat"
  if mounted then pure () else throwProblem unavailable ("cannot look into process " <> show pid <> ": /proc is not mounted")
  exists <- doesDirectoryExist here
  if exists then pure () else throwProblem noInput ("there is no process " <> show pid)
  maps <- readProc (here </> "maps")
  files <- maybe (throwProblem (ExitFailure 77) ("may not look into process " <> show pid <> ": it belongs to another user")) (pure . parseMaps) maps
  -- The files are opened from the process's own root, as it may be in a container.
  let rooted file = here </> "root" <> file
  objects <- mapMaybeM (\file -> (>>= classify file) <$> readElf isObjectSymbol (rooted file)) files
  status <- fromMaybe "" <$> readProc (here </> "status")
  variables <- fromMaybe "" <$> readProc (here </> "environ")
  busy <- busyThreads pid (fromMaybe "" maps)
  pure . ProcessSubject $
    ProcessFacts
      { processId = pid,
        processProgram = concat (take 1 files),
        processObjects = objects,
        processThreads = fromMaybe 0 (readMaybe =<< lookup "Threads:" [(key, value) | [key, value] <- map words (lines status)]),
        processBusy = busy,
        processVariables = filter (relevant . fst) (map splitAtEquals (splitZero variables))
      }
  where
    relevant name = any (`prefixes` name) ["OMP_", "GOMP_", "KMP_", "CAPSTAN_"] || name == "LD_PRELOAD"
    prefixes prefix name = take (length prefix) name == prefix
    splitAtEquals text = drop 1 <$> break (== '=') text
    splitZero text = case break (== '\0') text of
      (part, _ : rest) -> part : splitZero rest
      ("", []) -> []
      (part, []) -> [part]
    mapMaybeM f = fmap catMaybes . mapM f

-- The members of regions, and the processors, as the process's runtime counts them.
busyThreads :: Int -> String -> IO (Maybe (Int, Int))
busyThreads pid maps = do
  found <- findWords pid maps
  pure $ case found of
    Right (_, text) -> (,) <$> wordNamed "region threads" text <*> wordNamed "processors" text
    Left _ -> Nothing

-- The files that are mapped into a process; the program comes first.
parseMaps :: String -> [FilePath]
parseMaps = nubOrd . mapMaybe path . lines
  where
    path line = case dropFields (5 :: Int) line of
      file@('/' : _) | not (" (deleted)" `isSuffixOf` file) -> Just file
      _ -> Nothing
    dropFields 0 text = dropWhile isSpace text
    dropFields n text = dropFields (n - 1) (dropWhile (not . isSpace) (dropWhile isSpace text))

-- The soft limits of @/proc/self/limits@.
parseLimits :: String -> [(String, Limit)]
parseLimits text = mapMaybe entry (drop 1 (lines text))
  where
    -- The name is in the first 26 columns.
    entry line = case words (drop 26 line) of
      soft : _ | Just limit <- value soft -> Just (dropWhileEnd isSpace (take 26 line), limit)
      _ -> Nothing
    value "unlimited" = Just Unlimited
    value digits
      | not (null digits) && all isDigit digits = Just (Limited (read digits))
      | otherwise = Nothing

-- The number of processors in a list such as @0-3,8@.
parseCpuList :: String -> Maybe Int
parseCpuList text = sum <$> mapM range (splitComma (filter (not . isSpace) text))
  where
    range part = case break (== '-') part of
      (low, '-' : high) -> (\a b -> b - a + 1) <$> readMaybe low <*> readMaybe high
      (single, _) -> 1 <$ (readMaybe single :: Maybe Int)
    splitComma list = case break (== ',') list of
      (part, _ : rest) -> part : splitComma rest
      (part, []) -> [part]
