-- | The snippets of docs/tasks.md are those of "Migration", and behave as the page says.
module MigrationTests (tests, runSnippets) where

import Capstan.Chan (newUnbounded, send)
import Control.Monad (forM_, unless, when)
import qualified Data.Vector as Vector
import Migration
import System.Directory (doesFileExist, getTemporaryDirectory)
import System.Exit (ExitCode (..), die)
import System.FilePath ((</>))
import System.IO (hClose, hPutStr, openTempFile)
import System.Process (readProcessWithExitCode)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit (assertBool, assertEqual, testCase)

tests :: TestTree
tests =
  testGroup
    "docs/tasks.md"
    [ testCase "its Haskell is compiled" $ do
        page <- readFile "docs/tasks.md"
        source <- lines <$> readFile "tests/hs/examples/Migration.hs"
        let snippets = blocks "haskell" page
        assertBool "no snippets" (length snippets >= 10)
        forM_ snippets $ \snippet -> assertBool (unlines ("not in Migration.hs:" : snippet)) (snippet `within` source),
      testCase "its C is compiled" $ do
        page <- readFile "docs/tasks.md"
        folder <- getTemporaryDirectory
        (file, handle) <- openTempFile folder "page.c"
        hPutStr handle (unlines (concat (blocks "c" page)))
        hClose handle
        (code, _, err) <- readProcessWithExitCode "gcc" ["-fopenmp", "-Wall", "-Werror", "-fsyntax-only", file] ""
        assertEqual err ExitSuccess code,
      testCase "its links lead somewhere" $ do
        page <- readFile "docs/tasks.md"
        forM_ (links page) $ \link -> doesFileOrFolderExist ("docs" </> link) >>= assertBool link
    ]
  where
    doesFileOrFolderExist path = (||) <$> doesFileExist path <*> doesFileExist (path </> "README.md")

-- | The lines of each block of code in a language.
blocks :: String -> String -> [[String]]
blocks language = go . lines
  where
    go [] = []
    go (line : rest)
      | line == "```" ++ language = let (block, after) = break (== "```") rest in block : go (drop 1 after)
      | otherwise = go rest

within :: [String] -> [String] -> Bool
within _ [] = False
within block source = take (length block) source == block || block `within` drop 1 source

-- | The texts between "](" and ")".
links :: String -> [String]
links (']' : '(' : rest) = let (link, after) = break (== ')') rest in link : links after
links (_ : rest) = links rest
links [] = []

-- | The snippets before and after the migration have the same results.
runSnippets :: IO ()
runSnippets = do
  same "fib" (nfib 15) (nfibTasks 15)
  same "map" (mapped spread [1 .. 50]) (mappedTasks spread [1 .. 50])
  (,) <$> sizes "/proc/version" "/proc/cpuinfo" <*> sizesTasks "/proc/version" "/proc/cpuinfo" >>= \(a, b) -> same "sizes" (fst a) (fst b)
  (,) <$> checksums files <*> checksumsTasks files >>= uncurry (same "checksums")
  dot (Vector.enumFromN 0 100) (Vector.replicate 100 2) >>= same "dot" 9900
  fib 15 >>= same "fib in IO" 610
  pipeline [1 .. 1000] >>= same "pipeline" 333833500
  items <- newUnbounded
  untilQuiet items >>= same "nothing comes" 0
  mapM_ (send items) [7, 8]
  untilQuiet items >>= same "two items" 15
  found <- overdrawn
  when (null found) (die "no seed overdraws the account")
  again <- overdrawn
  same "overdrawn" found again
  where
    files = replicate 4 "/proc/version"
    spread n = [n .. n + 10]

same :: (Eq a, Show a) => String -> a -> a -> IO ()
same what expected found = unless (expected == found) (die (what ++ ": " ++ show found ++ " instead of " ++ show expected))
