-- | @capstan env@.
module EnvTests (tests) where

import Data.Aeson (Value (..))
import qualified Data.ByteString.Char8 as C
import Data.Foldable (toList)
import qualified Data.Text as T
import Fixture
import System.Exit
import Test.Tasty
import Test.Tasty.HUnit

-- | All tests of @env@.
tests :: Fixture -> TestTree
tests fixture =
  testGroup
    "env"
    [ testCase "values and their sources" $ do
        result <- with [("OMP_DYNAMIC", "TRUE")] ["env"]
        resultExit result @?= ExitSuccess
        row result "OMP_NUM_THREADS" ["3", "limits: cgroup quota"]
        row result "OMP_DYNAMIC" ["TRUE", "environment"]
        row result "CAPSTAN_SUBSTRATE" ["rts", "capstan run"]
        assertContains (resultOut result) ["4 in the affinity mask", "worth 3", "3 available"],
      testCase "options are those of run" $ do
        result <- with [] ["env", "--threads", "5", "--substrate", "pthread"]
        row result "OMP_NUM_THREADS" ["5", "capstan run"]
        row result "CAPSTAN_SUBSTRATE" ["pthread", "capstan run"],
      testCase "the user's own substrate is from the environment" $ do
        result <- with [("CAPSTAN_SUBSTRATE", "pthread")] ["env"]
        row result "CAPSTAN_SUBSTRATE" ["pthread", "environment"],
      testCase "a malformed variable, with the runtime's warning" $ do
        result <- with [("OMP_DYNAMIC", "nonsense")] ["env"]
        resultExit result @?= ExitSuccess
        row result "OMP_DYNAMIC" ["FALSE", "\"nonsense\" was refused"]
        assertContains (resultOut result) ["libgomp: Invalid value for environment variable OMP_DYNAMIC"],
      testCase "JSON" $ do
        result <- with [("OMP_DYNAMIC", "nonsense")] ["env", "--json", "-t", "2"]
        value <- json (resultOut result)
        path ["processors", "quota"] value >>= (@?= Number 3)
        threads <- setting value "OMP_NUM_THREADS"
        field "value" threads >>= (@?= string "2")
        field "source" threads >>= (@?= string "capstan run")
        dynamic <- setting value "OMP_DYNAMIC"
        field "rejected" dynamic >>= (@?= Bool True)
        field "given" dynamic >>= (@?= string "nonsense")
        warnings <- field "warnings" dynamic
        warnings @?= Array (pure (string "libgomp: Invalid value for environment variable OMP_DYNAMIC")),
      testCase "JSON of a value that is not UTF-8" $ do
        result <- with [("OMP_NUM_THREADS", "\xdcff")] ["env", "--json"]
        _ <- json (resultOut result)
        pure (),
      testCase "no runtime" $ do
        result <- with [("CAPSTAN_LIBDIR", "/tmp")] ["env"]
        resultExit result @?= ExitFailure 69
        assertContains (resultErr result) ["CAPSTAN_LIBDIR is /tmp"],
      testCase "an argument too many" $ do
        result <- with [] ["env", "something"]
        resultExit result @?= ExitFailure 64,
      testCase "a full disk" $ do
        result <- redirected ">/dev/full" fixture ["env"]
        resultExit result @?= ExitFailure 74
        assertContains (resultErr result) ["cannot write to standard output", "No space left"],
      testCase "standard output is closed" $ do
        result <- redirected ">&-" fixture ["env"]
        resultExit result @?= ExitFailure 74
        assertContains (resultErr result) ["cannot write to standard output", "Bad file descriptor"],
      testCase "standard input is closed" $ do
        result <- redirected "<&-" fixture ["env"]
        resultExit result @?= ExitSuccess
        row result "OMP_NUM_THREADS" ["3", "limits: cgroup quota"]
    ]
  where
    with set = capstanWith usual {setupSet = set} fixture
    string = String . T.pack
    row result name parts = case filter (C.isPrefixOf (C.pack (name <> " "))) (C.lines (resultOut result)) of
      [line] -> assertContains line (name : parts)
      other -> assertFailure (name <> " in " <> show other)
    setting value name = do
      list <- field "settings" value
      case list of
        Array entries -> do
          names <- mapM (field "name") (toList entries)
          case [entry | (n, entry) <- zip names (toList entries), n == string name] of
            [entry] -> pure entry
            _ -> assertFailure ("no " <> name)
        _ -> assertFailure "settings are a list"
