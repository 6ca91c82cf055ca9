-- | Programs that were written for criterion, each with a habit that a process of its own must bear. They are
-- this very program, by the name in a variable of the environment.
module Programs
  ( programs,
    programVariable,
    tests,
  )
where

import Capstan.Bench hiding (env)
import Capstan.Bench.Options (optionsVariable)
import Control.Exception (bracket_)
import Control.Monad (unless)
import Criterion.Main.Options (MatchType (..), Mode (..))
import Criterion.Types (Config (..))
import Data.List (isInfixOf, isPrefixOf)
import GHC.IO.Encoding (setLocaleEncoding)
import System.Directory
import System.Environment (getArgs, getEnvironment, getExecutablePath, withArgs)
import System.Exit (ExitCode (..))
import System.FilePath ((</>))
import System.IO (IOMode (..), hGetContents, hSetEncoding, utf8, withFile)
import System.Process
import Test.Tasty hiding (defaultMain)
import Test.Tasty.HUnit

programVariable :: String
programVariable = "CAPSTANBENCH_PROGRAM"

programs :: [(String, IO ())]
programs =
  [ ("suites", defaultMain [nothing "a", nothing "b"] >> defaultMain [nothing "b"] >> putStrLn "end"),
    ("folder", setCurrentDirectory "inner" >> defaultMain [nothing "a"]),
    ("occupied", bracket_ (createDirectory "occupied") (removeDirectory "occupied") (defaultMain [nothing "a"])),
    ("arguments", getArgs >>= \arguments -> withArgs (drop 1 arguments) (defaultMain [nothing (unwords (take 1 arguments))])),
    ("command line", getArgs >>= (@?= ["its", "own"]) >> runMode (Run defaultConfig {timeLimit = 0.11, resamples = 10} Prefix []) [nothing "a", nothing "b"]),
    ("results", defaultMainWith defaultConfig {csvFile = Just "results.csv"} [nothing "häßlich"] >> withFile "results.csv" ReadMode (\from -> hSetEncoding from utf8 >> hGetContents from >>= putStr)),
    ("unknown", doesFileExist "begun" >>= \begun -> unless begun (writeFile "begun" "") >> defaultMain [nothing (if begun then "a" else "b")])
  ]

nothing :: String -> Benchmark
nothing name = bench name (whnfIO (pure ()))

tests :: TestTree
tests =
  testGroup
    "programs for criterion"
    [ testCase "several suites, one after the other" $ do
        (code, out, err) <- run "suites" quick
        (code, measured out, err) @?= (ExitSuccess, ["a", "b", "b"], "")
        length (filter (== "end") (lines out)) @?= 1,
      testCase "one that goes to another folder first" $ run "folder" quick >>= agrees ["a"],
      testCase "one that cannot run beside itself is measured as criterion does it, and that is said" $ do
        (code, out, err) <- run "occupied" quick
        (code, measured out) @?= (ExitSuccess, ["a"])
        assertBool err ("cannot be started again" `isInfixOf` err && "already exists" `isInfixOf` err),
      testCase "which is a failure where a diagnosis is one" $ do
        (code, _, _) <- run "occupied" ("--strict" : quick)
        code @?= ExitFailure 1,
      testCase "one that takes an argument for itself" $ run "arguments" ("mine" : quick) >>= agrees ["mine"],
      testCase "one whose command line is its own has options from the environment" $ do
        (code, out, err) <- runWith [(optionsVariable, "b --rounds 2 --csv results.csv")] "command line" ["its", "own"]
        (code, measured out, err) @?= (ExitSuccess, ["b"], "")
        runWith [(optionsVariable, "--list")] "command line" ["its", "own"] >>= (@?= (ExitSuccess, "a\nb\n", ""))
        runWith [(optionsVariable, "b --baseline nowhere.json")] "command line" ["its", "own"] >>= \(c, _, e) -> (c, "nowhere.json" `isInfixOf` e) @?= (ExitFailure 64, True)
        runWith [(optionsVariable, "--no-such")] "command line" ["its", "own"] >>= \(c, _, e) -> (c, "no-such" `isInfixOf` e) @?= (ExitFailure 64, True),
      testCase "and where it is ours, that has the last word" $
        runWith [(optionsVariable, "a --rounds 2 --csv results.csv")] "suites" ("b" : quick) >>= agrees ["b", "b"],
      testCase "one that reads its results, whatever the locale" $ do
        (code, out, err) <- run "results" quick
        (code, measured out, err) @?= (ExitSuccess, ["häßlich"], "")
        assertBool out (any ("häßlich," `isPrefixOf`) (lines out)),
      testCase "one whose names change is told so" $ do
        (code, _, err) <- run "unknown" quick
        (code, "no benchmark of this name" `isInfixOf` err) @?= (ExitFailure 1, True)
    ]
  where
    quick = ["--rounds", "1", "-L", "0.11", "--resamples", "10"]
    measured out = [drop 13 line | line <- lines out, "benchmarking " `isPrefixOf` line]
    agrees wanted (code, out, err) = (code, measured out, err) @?= (ExitSuccess, wanted, "")

-- | In a folder of its own, without a locale.
run :: String -> [String] -> IO (ExitCode, String, String)
run = runWith []

-- | With these variables.
runWith :: [(String, String)] -> String -> [String] -> IO (ExitCode, String, String)
runWith variables name arguments = do
  setLocaleEncoding utf8
  here <- getTemporaryDirectory
  number <- getCurrentPid
  let folder = here </> "capstan-bench-" ++ name ++ "-" ++ show number
  createDirectoryIfMissing True (folder </> "inner")
  program <- getExecutablePath
  inherited <- getEnvironment
  let chosen = (programVariable, name) : ("LC_ALL", "C") : variables
      settings = chosen ++ filter ((`notElem` optionsVariable : map fst chosen) . fst) inherited
  result <- readCreateProcessWithExitCode (proc program arguments) {cwd = Just folder, env = Just settings} ""
  result <$ removePathForcibly folder
