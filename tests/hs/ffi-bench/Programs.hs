-- | Programs that were written for criterion. Each has a habit that must work in separate
-- processes. All are this very program: an environment variable chooses the name.
module Programs
  ( programs,
    programVariable,
    tests,
  )
where

import Capstan.Bench hiding (env)
import Capstan.Bench.Options (optionsVariable)
import Control.Exception (bracket_)
import Control.Monad (forM_, unless)
import Criterion.Main.Options (MatchType (..), Mode (..))
import Criterion.Types (Config (..))
import Data.List (isInfixOf, isPrefixOf)
import GHC.IO.Encoding (setFileSystemEncoding, setLocaleEncoding)
import GHC.IO.Encoding.Failure (CodingFailureMode (RoundtripFailure))
import GHC.IO.Encoding.UTF8 (mkUTF8)
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
    ("results", defaultMainWith defaultConfig {csvFile = Just "results.csv"} [nothing "häßlich"] >> showFile "results.csv"),
    ("names", defaultMain (map nothing oddNames) >> mapM_ showFile ["figures.csv", "figures.xml"]),
    ("alphabets", defaultMain (bench "prints" (perRunEnv (putStrLn "\181s") (\() -> pure ())) : map nothing ["10 \181s", "1 \177 2"])),
    ("empty", defaultMain [bgroup "none" []] >> putStrLn "end"),
    ("input", getContents >>= \input -> defaultMain [bench "length" (whnf (\n -> if n == 9 then n else error "another input") (length input))]),
    ("unknown", doesFileExist "begun" >>= \begun -> unless begun (writeFile "begun" "") >> defaultMain [nothing (if begun then "a" else "b")])
  ]

showFile :: FilePath -> IO ()
showFile file = withFile file ReadMode (\from -> hSetEncoding from utf8 >> hGetContents from >>= putStr)

-- | The first is GHC's form of a file name that is not in UTF-8.
oddNames :: [String]
oddNames = ["file \xdce4", "", "a\"b, <c> & d", "two\r\nlines", "\ESC[31m", "-n", "\955/\128512", "\xdce4"]

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
      testCase "what is asked for in vain is said" $
        forM_ [["nosuch"], ["--rounds", "-3"]] $ \asked -> do
          (code, _, err) <- run "suites" asked
          (code == ExitSuccess, last asked `isInfixOf` err) @?= (False, True),
      testCase "and where it is ours, that has the last word" $
        runWith [(optionsVariable, "a --rounds 2 --csv results.csv")] "suites" ("b" : quick) >>= agrees ["b", "b"],
      testCase "one that reads its results, whatever the locale" $ do
        (code, out, err) <- run "results" quick
        (code, measured out, err) @?= (ExitSuccess, ["häßlich"], "")
        assertBool out (any ("häßlich," `isPrefixOf`) (lines out)),
      testCase "names of all kinds come back, and into all files" $ do
        (code, out, err) <- run "names" (["--csv", "figures.csv", "--json", "figures.json", "--junit", "figures.xml", "--output", "figures.html"] ++ quick)
        (code, err) @?= (ExitSuccess, "")
        mapM_ (\text -> assertBool (text ++ " in " ++ out) (text `isInfixOf` out)) ["\"a\"\"b, <c> & d\",", "\"two\r\nlines\",", "name=\"two&#13;&#10;lines\"", "name=\"\xfffd[31m\"", "name=\"a&quot;b, &lt;c> &amp; d\"", "name=\"\955/\128512\""],
      testCase "the locale of C keeps no name from being listed" $
        run "alphabets" ["--list"] >>= (@?= (ExitSuccess, unlines ["1 \177 2", "10 \181s", "prints"], "")),
      testCase "nor from being chosen, by the command line and by the environment" $ do
        run "alphabets" ("10 \181s" : quick) >>= agrees ["10 \181s"]
        runWith [(optionsVariable, "-m glob *\177*")] "alphabets" quick >>= agrees ["1 \177 2"],
      testCase "nor from being said in a message" $
        forM_ [["\956s"], ["--rounds", "\956"], ["--baseline", "\956.json"], ["--csv", "\956/figures.csv"], ["--\956"], ["\956\xdcff"]] $ \asked -> do
          (code, _, err) <- run "alphabets" asked
          (code, last asked `isInfixOf` err, err) @?= (ExitFailure (if "--rounds" `elem` asked || "--\956" `elem` asked then 1 else 64), True, err),
      testCase "nor from being printed by a benchmark, in folders of any name" $ do
        (code, out, err) <- run "alphabets" (["prints", "--csv", "\956.csv", "--json", "\956.json", "--junit", "\956.xml", "--output", "\956.html"] ++ quick)
        (code, measured out, err) @?= (ExitSuccess, ["prints"], ""),
      testCase "one without benchmarks has nothing to do" $ do
        (code, out, err) <- run "empty" quick
        (code, out, err) @?= (ExitSuccess, "end\n", ""),
      testCase "one that reads a file from its standard input reads it in each process" $ do
        (code, out, err) <- readingFrom "exec \"$0\" \"$@\" <input" "input" quick
        (code, measured out, err) @?= (ExitSuccess, ["length"], ""),
      testCase "one that reads a pipe is told that it cannot be read again" $ do
        (code, _, err) <- readingFrom "cat input | \"$0\" \"$@\"" "input" quick
        (code, "Bad file descriptor" `isInfixOf` err) @?= (ExitFailure 1, True),
      testCase "the help names what a regression can be of, as criterion's does" $ do
        (code, out, _) <- run "suites" ["--help"]
        (code, all (`isInfixOf` out) ["bytesCopied", "--rounds", "Exit code"]) @?= (ExitSuccess, True),
      testCase "one whose names change is told so" $ do
        (code, _, err) <- run "unknown" quick
        (code, "no benchmark of this name" `isInfixOf` err) @?= (ExitFailure 1, True)
    ]
  where
    quick = ["--rounds", "1", "-L", "0.11", "--resamples", "10"]
    measured out = [drop 13 line | line <- lines out, "benchmarking " `isPrefixOf` line]
    agrees wanted (code, out, err) = (code, measured out, err) @?= (ExitSuccess, wanted, "")

-- | Runs a program like 'run', by a line of the shell, in a folder with a file of nine letters.
readingFrom :: String -> String -> [String] -> IO (ExitCode, String, String)
readingFrom line name = started [] name (\program arguments -> proc "sh" ("-c" : line : program : arguments))

-- | Runs a program in the locale of C, in its own folder, whose name is not ASCII. The folder is
-- also the folder for temporary files.
run :: String -> [String] -> IO (ExitCode, String, String)
run = runWith []

-- | Runs a program like 'run', with these variables.
runWith :: [(String, String)] -> String -> [String] -> IO (ExitCode, String, String)
runWith variables name = started variables name proc

started :: [(String, String)] -> String -> (FilePath -> [String] -> CreateProcess) -> [String] -> IO (ExitCode, String, String)
started variables name command arguments = do
  -- The texts of the programs are not all Unicode.
  setLocaleEncoding (mkUTF8 RoundtripFailure)
  setFileSystemEncoding (mkUTF8 RoundtripFailure)
  here <- getTemporaryDirectory
  number <- getCurrentPid
  let folder = here </> "capstan-bench-\955-" ++ name ++ "-" ++ show number
  createDirectoryIfMissing True (folder </> "inner")
  writeFile (folder </> "input") "nine char"
  program <- getExecutablePath
  inherited <- getEnvironment
  let chosen = (programVariable, name) : ("LC_ALL", "C") : ("TMPDIR", folder) : variables
      settings = chosen ++ filter ((`notElem` optionsVariable : map fst chosen) . fst) inherited
  result <- readCreateProcessWithExitCode (command program arguments) {cwd = Just folder, env = Just settings} ""
  result <$ removePathForcibly folder
