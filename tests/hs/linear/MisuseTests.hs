-- | Programs that must not compile.
--
-- Each file in @fail/@ holds two programs that differ only in the misuse: with the macro @MISUSE@ the
-- compiler must refuse it with the words after @expect:@, without it must accept it without a
-- warning.
module MisuseTests (tests) where

import Data.List (isInfixOf, isSuffixOf, sort, stripPrefix)
import Data.Maybe (fromMaybe, listToMaybe, mapMaybe)
import System.Directory (listDirectory)
import System.Environment (lookupEnv)
import System.Exit (ExitCode (..))
import System.FilePath (dropExtension, (</>))
import System.Process (readProcessWithExitCode)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit (Assertion, assertBool, testCase)

folder :: FilePath
folder = "tests/hs/linear/fail"

tests :: IO TestTree
tests = do
  programs <- sort . filter (".hs" `isSuffixOf`) <$> listDirectory folder
  pure . testGroup "misuse is a type error" $
    testCase "there are programs to refuse" (assertBool folder (length programs >= 10)) : map pair programs

pair :: FilePath -> TestTree
pair program = testCase (dropExtension program) $ do
  accepted (folder </> program)
  refused (folder </> program)

accepted, refused :: FilePath -> Assertion
accepted program = do
  (code, messages) <- compile [] program
  assertBool ("without the misuse:\n" ++ messages) (code == ExitSuccess)
refused program = do
  text <- readFile program
  let expected = fromMaybe "" (listToMaybe (mapMaybe (stripPrefix "-- expect: ") (lines text)))
  assertBool "the file does not say what to expect" (not (null expected))
  (code, messages) <- compile ["-DMISUSE"] program
  assertBool ("the misuse compiles: " ++ program) (code /= ExitSuccess)
  assertBool ("expected: " ++ expected ++ "\n" ++ messages) (expected `isInfixOf` messages)

-- | Types only, with the package's sources and language, so that it does not matter where it is
-- installed.
compile :: [String] -> FilePath -> IO (ExitCode, String)
compile more program = do
  ghc <- fromMaybe "ghc" <$> lookupEnv "GHC"
  (code, _, messages) <- readProcessWithExitCode ghc (options ++ more ++ [program]) ""
  pure (code, messages)
  where
    options = ["-v0", "-XHaskell2010", "-Wall", "-Werror", "--make", "-fno-code", "-isrc", "-Iruntime"]
