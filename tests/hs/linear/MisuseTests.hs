-- | Programs that must not compile.
--
-- Each file in @fail/@ holds two programs that differ only in the misuse. With the macro @MISUSE@
-- the compiler must refuse the program with the words after @expect:@. Without the macro it must
-- accept the program without a warning.
module MisuseTests (tests) where

import Data.List (isInfixOf, isSuffixOf, sort, stripPrefix)
import Data.Maybe (fromMaybe, listToMaybe, mapMaybe)
import System.Directory (createDirectoryIfMissing, listDirectory)
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
  accepted program
  refused program

accepted, refused :: FilePath -> Assertion
accepted program = do
  (code, messages) <- compile "right" [] program
  assertBool ("without the misuse:\n" ++ messages) (code == ExitSuccess)
refused program = do
  text <- readFile (folder </> program)
  let expected = fromMaybe "" (listToMaybe (mapMaybe (stripPrefix "-- expect: ") (lines text)))
  assertBool "the file does not say what to expect" (not (null expected))
  (code, messages) <- compile "misuse" ["-DMISUSE"] program
  assertBool ("the misuse compiles: " ++ program) (code /= ExitSuccess)
  assertBool ("expected: " ++ expected ++ "\n" ++ messages) (expected `isInfixOf` messages)

-- | Checks types only, with the sources and the language of the package, so that its place of
-- installation has no effect. GHC makes objects of some modules all the same. As the tests run at
-- the same time, each compilation has its own folder.
compile :: String -> [String] -> FilePath -> IO (ExitCode, String)
compile kind more program = do
  ghc <- fromMaybe "ghc" <$> lookupEnv "GHC"
  createDirectoryIfMissing True objects
  (code, _, messages) <- readProcessWithExitCode ghc (options ++ more ++ [folder </> program]) ""
  pure (code, messages)
  where
    objects = "build/tests/linear" </> dropExtension program </> kind
    options =
      ["-v0", "-XHaskell2010", "-Wall", "-Werror", "--make", "-fno-code", "-isrc", "-isrc-task", "-Iruntime", "-outputdir", objects]
