-- | The examples in @examples/tasks@, with small inputs, and the snippets of docs/tasks.md, on one
-- Capability and on several. Both versions of each have the same result. Each runs in its own
-- process, with a fixed number of Capabilities.
module Main (main) where

import Control.Monad (forM_, unless)
import Example
import Examples (examples)
import MigrationTests (runSnippets)
import qualified MigrationTests
import System.Environment (getArgs, getExecutablePath, setEnv)
import System.Exit (ExitCode (..), die)
import System.Process (readProcessWithExitCode)
import Test.Tasty (TestTree, defaultMain, localOption, mkTimeout, testGroup)
import Test.Tasty.HUnit (assertEqual, testCase)

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    ["--inside", "snippets"] -> runSnippets
    ["--inside", title] -> mapM_ run [e | e <- examples, name e == title]
    _ -> do
      -- The tests run one after another, as each uses several Capabilities.
      setEnv "TASTY_NUM_THREADS" "1"
      defaultMain . localOption (mkTimeout 120000000) $
        testGroup "examples" $
          MigrationTests.tests :
            [testGroup (show n ++ " Capabilities") (map (example n) ("snippets" : map name examples)) | n <- [1, 2, 4]]

example :: Int -> String -> TestTree
example capabilities title = testCase title $ do
  program <- getExecutablePath
  (code, out, err) <- readProcessWithExitCode program ["--inside", title, "+RTS", "-N" ++ show capabilities] ""
  assertEqual (out ++ err) ExitSuccess code

run :: Example -> IO ()
run (Example _ _ _ sizes make alone together) = do
  expected <- make sizes >>= alone
  forM_ [1 .. 5 :: Int] $ \_ -> do
    result <- make sizes >>= together
    unless (result == expected) (die "the versions differ")
