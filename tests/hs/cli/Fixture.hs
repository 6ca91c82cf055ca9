-- | Shared by the tests: small programs that are compiled once, and functions that start the
-- command and check its output.
module Fixture
  ( -- * Programs
    Fixture (..),
    withFixture,
    program,

    -- * Running the command
    Result (..),
    Setup (..),
    usual,
    capstan,
    capstanWith,
    redirected,
    execute,
    environmentWith,

    -- * Looking at output
    json,
    field,
    path,
    assertContains,
    assertLacks,
  )
where

import Control.Exception (bracket)
import Control.Monad (forM_, unless)
import Data.Aeson (Value (..), eitherDecodeStrict)
import qualified Data.Aeson.Key as K
import qualified Data.Aeson.KeyMap as KM
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Lazy as L
import Data.List (isPrefixOf)
import System.Directory
import System.Environment (getEnvironment, lookupEnv)
import System.Exit (die)
import System.FilePath ((</>))
import System.Posix.Temp (mkdtemp)
import System.Process.Typed
import Test.Tasty.HUnit

-- | The places of programs and files.
data Fixture = Fixture
  { -- | The command.
    fixtureCommand :: FilePath,
    -- | A directory that is removed afterwards; the programs are in it.
    fixtureDirectory :: FilePath,
    -- | The directory of the fake runtime.
    fixtureLibrary :: FilePath,
    -- | The sources of the programs.
    fixtureSources :: FilePath,
    -- | The directory of a real runtime, if one is built.
    fixtureRuntime :: Maybe FilePath
  }

-- | One of the compiled programs.
program :: Fixture -> String -> FilePath
program fixture name = fixtureDirectory fixture </> name

-- | Compiles the programs.
withFixture :: (Fixture -> IO a) -> IO a
withFixture action =
  bracket (mkdtemp "/tmp/capstan-command-") removeDirectoryRecursive $ \directory -> do
    sources <- findSources
    command <- findCommand
    runtime <- lookupEnv "CAPSTAN_TEST_LIBDIR"
    let library = directory </> "lib"
        compile arguments = runProcess_ (proc "gcc" (["-O1", "-Wall"] <> arguments))
        source name = sources </> name
    createDirectory library
    compile
      [ "-shared",
        "-fPIC",
        source "fake.c",
        "-Wl,-soname,libgomp.so.1",
        "-Wl,--version-script=" <> source "fake.map",
        "-o",
        library </> "libgomp.so.1.0.0"
      ]
    writeFile (library </> "libcapstan-rts.so") ""
    forM_ ["arguments", "listen", "state", "send", "plain", "wait", "without"] $ \name ->
      compile [source (name <> ".c"), "-o", directory </> name]
    forM_ ["region", "crowd"] $ \name ->
      compile ["-fopenmp", source (name <> ".c"), "-o", directory </> name]
    compile ["-fopenmp", "-fsanitize=address", source "region.c", "-o", directory </> "region-address"]
    compile ["-static", source "plain.c", "-o", directory </> "static"]
    compile [source "terminal.c", "-lutil", "-o", directory </> "terminal"]
    action (Fixture command directory library sources runtime)

findSources :: IO FilePath
findSources = do
  found <- doesDirectoryExist folder
  unless found (die ("there is no folder " <> folder <> " here; run the tests in the folder of the package"))
  makeAbsolute folder
  where
    folder = "tests/fixtures"

-- Cabal puts the command that it built on the path.
findCommand :: IO FilePath
findCommand = do
  chosen <- lookupEnv "CAPSTAN_TEST_COMMAND"
  found <- maybe (findExecutable "capstan") (pure . Just) chosen
  maybe (die "no capstan on the path; set CAPSTAN_TEST_COMMAND") makeAbsolute found

-- | The result of a process.
data Result = Result
  { resultExit :: ExitCode,
    resultOut :: B.ByteString,
    resultErr :: B.ByteString
  }
  deriving (Show)

-- | The settings of a process.
data Setup = Setup
  { -- | Variables to set.
    setupSet :: [(String, String)],
    setupInput :: B.ByteString
  }

-- | The environment of the tests, without variables that would disturb them; no input.
usual :: Setup
usual = Setup [] B.empty

-- | Starts the command with the fake runtime.
capstan :: Fixture -> [String] -> IO Result
capstan = capstanWith usual

-- | Starts the command with the fake runtime, variables and input.
capstanWith :: Setup -> Fixture -> [String] -> IO Result
capstanWith setup fixture =
  execute setup {setupSet = setupSet setup <> [("CAPSTAN_LIBDIR", fixtureLibrary fixture)]} (fixtureCommand fixture)

-- | Starts the command with the fake runtime, and with redirections in the syntax of a shell.
redirected :: String -> Fixture -> [String] -> IO Result
redirected redirections fixture arguments =
  execute
    usual {setupSet = [("CAPSTAN_LIBDIR", fixtureLibrary fixture)]}
    "sh"
    (["-c", "exec \"$@\" " <> redirections, "sh", fixtureCommand fixture] <> arguments)

-- | Starts any program.
execute :: Setup -> FilePath -> [String] -> IO Result
execute setup file arguments = do
  environment <- environmentWith (setupSet setup)
  (code, out, err) <-
    readProcess . setStdin (byteStringInput (L.fromStrict (setupInput setup))) . setEnv environment $
      proc file arguments
  pure (Result code (L.toStrict out) (L.toStrict err))

-- | The environment of the tests with these variables, of which the first of a name counts, and
-- without variables that would disturb.
environmentWith :: [(String, String)] -> IO [(String, String)]
environmentWith set = do
  inherited <- getEnvironment
  pure (dedupe (set <> filter (not . disturbing . fst) inherited))
  where
    disturbing name = any (`isPrefixOf` name) ["OMP_", "GOMP_", "CAPSTAN_", "LD_", "NO_COLOR"]
    dedupe list = case list of
      [] -> []
      (name, value) : rest -> (name, value) : dedupe (filter ((/= name) . fst) rest)

-- | Standard output as JSON: one document on one line.
json :: B.ByteString -> IO Value
json text = do
  assertEqual "one line" 1 (length (C.lines text))
  either (\failure -> assertFailure (failure <> ": " <> show text)) pure (eitherDecodeStrict text)

-- | A field of an object.
field :: String -> Value -> IO Value
field name value = case value of
  Object o | Just found <- KM.lookup (K.fromString name) o -> pure found
  _ -> assertFailure ("no field " <> name <> " in " <> show value)

-- | A field of a field of a field.
path :: [String] -> Value -> IO Value
path names value = foldl (\v name -> v >>= field name) (pure value) names

-- | Checks that the text contains these words, in this order.
assertContains :: B.ByteString -> [String] -> Assertion
assertContains text = go text
  where
    go _ [] = pure ()
    go rest (part : parts) = case B.breakSubstring (C.pack part) rest of
      (_, found)
        | B.null found -> assertFailure ("no " <> show part <> " (after what was found before it) in:\n" <> C.unpack text)
        | otherwise -> go (B.drop (B.length (C.pack part)) found) parts

-- | Checks that the text does not contain these words.
assertLacks :: B.ByteString -> String -> Assertion
assertLacks text part =
  unless (B.null (snd (B.breakSubstring (C.pack part) text))) $
    assertFailure ("unexpected " <> show part <> " in:\n" <> C.unpack text)
