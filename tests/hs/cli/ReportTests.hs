{-# LANGUAGE LambdaCase #-}

-- | The output of @capstan run --report@, and its places.
module ReportTests (tests) where

import Control.Monad (forM_)
import Data.Aeson (Value (..))
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Fixture
import Interaction (nextLine, send, withDialogue)
import System.Directory (doesFileExist)
import System.Exit
import System.FilePath ((</>))
import Test.Tasty
import Test.Tasty.HUnit

-- | All tests of reports.
tests :: Fixture -> TestTree
tests fixture =
  testGroup
    "report"
    [ testCase "off: nothing is said" $ do
        result <- capstan fixture ["run", "--", region]
        resultExit result @?= ExitSuccess
        resultErr result @?= B.empty,
      testCase "on: what the runtime said, on standard error" $ do
        result <- capstan fixture ["run", "--report", "--", region, "3"]
        resultExit result @?= ExitFailure 3
        resultOut result @?= B.empty
        assertContains
          (resultErr result)
          ["ran on Capstan 9.8.7", "/fake/libgomp", "rts: GHC 1.2.3, 2 Capabilities", "regions", "1", "threads", "3, largest team 2 (2 processors)", "tasks", "7", "wall", "processor (", " user, ", " system)"]
        assertLacks (resultErr result) "system time",
      testCase "a runtime that opened no region" $ do
        result <- capstan fixture ["run", "--report", "--", program fixture "plain"]
        assertContains (resultErr result) ["loaded Capstan 9.8.7 but opened no parallel region"],
      testCase "a note of the runtime is shown" $ do
        result <- capstanWith usual {setupSet = [("FAKE_NO_RTS", "1")]} fixture ["run", "--report", "--", region]
        assertContains (resultErr result) ["no such substrate"],
      testCase "libraries with pools of their own" $ do
        let with options = capstanWith usual {setupSet = [("FAKE_POOLS", "1")]} fixture (["run", "--report"] <> options <> ["--", region])
        result <- with []
        assertContains
          (resultErr result)
          ["OpenBLAS (libfirst.so): 12 sections here, the largest of 3 threads, 1 thread made by itself", "MKL (libsecond.so): not adopted: nobody knows\n", "FFTW (libthird.so): served: it uses OpenMP"]
        value <- with ["--json"] >>= json . resultErr
        path ["process", "pools"] value >>= \case
          Array pools -> length pools @?= 3
          other -> assertFailure (show other),
      testCase "most of the processor time is the system's" $ do
        result <- capstanWith usual {setupSet = [("FAKE_SYSTEM", "1")]} fixture ["run", "--report", "--", region]
        assertContains (resultErr result) ["system)", "most of it is system time: threads often sleep, yield and wake\n"],
      testCase "a static program" $ do
        result <- capstan fixture ["run", "--report", "--", program fixture "static"]
        assertContains (resultErr result) ["did not use Capstan", "linked statically"],
      testCase "a program that a signal ended" $ do
        result <- capstan fixture ["run", "--report", "--", "sh", "-c", "kill -9 $$"]
        resultExit result @?= ExitFailure (-9)
        assertContains (resultErr result) ["did not use Capstan", "signal 9 ended"],
      testCase "a program that runs no exit handlers" $ do
        result <- capstan fixture ["run", "--report", "--", "sh", "-c", "exit 0"]
        assertContains (resultErr result) ["did not use Capstan", "exit handlers"],
      testCase "a program that closes the descriptor" $ do
        result <- capstan fixture ["run", "--report", "--", "bash", "-c", "exec 1000>&-; exec " <> region]
        resultExit result @?= ExitSuccess
        assertContains (resultErr result) ["did not use Capstan", "closed what it did not open"],
      testCase "children" $ do
        result <- capstan fixture ["run", "--report", "--", "sh", "-c", region <> "; " <> region <> "; " <> program fixture "plain" <> "; :"]
        assertContains (resultErr result) ["did not report, but its children did", "3 children reported: 2 regions, 21 tasks"],
      testCase "five hundred children" $ do
        result <- capstan fixture ["run", "--report", "--json", "--", "sh", "-c", "for i in 1 2 3 4 5; do for j in 1 2 3 4 5 6 7 8 9 0; do for k in 1 2 3 4 5 6 7 8 9 0; do " <> region <> "; done; done; done; :"]
        value <- json (resultErr result)
        path ["total", "regions"] value >>= (@?= Number 500),
      testCase "a child that outlives the program is not waited for" $ do
        result <- capstan fixture ["run", "--report", "--", "sh", "-c", "sleep 30 >/dev/null 2>&1 & echo $!"]
        assertContains (resultErr result) ["wall"]
        killed <- execute usual "kill" (lines (C.unpack (resultOut result)))
        resultExit killed @?= ExitSuccess,
      testCase "to a file, and nothing on standard error" $ do
        let file = fixtureDirectory fixture </> "report.txt"
        writeFile file "old contents that are longer than nothing at all"
        result <- capstan fixture ["run", "--report=" <> file, "--", region]
        resultErr result @?= B.empty
        text <- B.readFile file
        assertContains text ["ran on Capstan"]
        assertLacks text "old contents",
      testCase "a report that cannot be written: the program does not run" $ do
        let mark = fixtureDirectory fixture </> "mark"
        result <- capstan fixture ["run", "--report=/no/such/file", "--", "touch", mark]
        resultExit result @?= ExitFailure 125
        doesFileExist mark >>= (@?= False),
      testCase "JSON" $ do
        result <- capstan fixture ["run", "--json", "--", region, "4"]
        value <- json (resultErr result)
        forM_
          [ (["capstan"], String versionText),
            (["exit"], Number 4),
            (["signal"], Null),
            (["served"], Bool True),
            (["reason"], Null),
            (["process", "substrate"], String (read "\"rts\"")),
            (["process", "regions"], Number 1),
            (["total", "processes"], Number 1)
          ]
          $ \(names, wanted) -> path names value >>= (@?= wanted),
      testCase "JSON of a program that a signal ended" $ do
        result <- capstan fixture ["run", "--json", "--", "sh", "-c", "kill -15 $$"]
        value <- json (resultErr result)
        path ["exit"] value >>= (@?= Null)
        path ["signal"] value >>= (@?= Number 15)
        path ["served"] value >>= (@?= Bool False),
      testCase "JSON with names that are not UTF-8" $ do
        result <- capstan fixture ["run", "--json", "--", "sh", "-c", "exit 0", "\xdcff"]
        _ <- json (resultErr result)
        pure (),
      testCase "a closed standard error does not change the exit code" $ do
        result <- redirected "2>&-" fixture ["run", "--report", "--", region, "9"]
        resultExit result @?= ExitFailure 9,
      testCase "standard output is closed, and stays so for the program" $ do
        let file = fixtureDirectory fixture </> "closed.json"
        result <- redirected ">&-" fixture ["run", "--json", "--report=" <> file, "--", "sh", "-c", "! [ -e /proc/self/fd/1 ]"]
        resultExit result @?= ExitSuccess
        value <- B.readFile file >>= json
        path ["exit"] value >>= (@?= Number 0),
      testCase "a report within a report goes to the inner one" $ do
        result <- capstan fixture ["run", "--report=/dev/null", "--", fixtureCommand fixture, "run", "--report", "--", region]
        assertContains (resultErr result) ["ran on Capstan"],
      testGroup
        "colour"
        [ testCase "none where nobody looks" $ do
            result <- capstan fixture ["run", "--report", "--", region]
            assertLacks (resultErr result) "\ESC",
          testCase "on a terminal" $ do
            coloured <- onTerminal [("TERM", "xterm")]
            assertBool "an escape sequence" ('\ESC' `elem` coloured),
          testCase "not with NO_COLOR" $ do
            coloured <- onTerminal [("TERM", "xterm"), ("NO_COLOR", "1")]
            assertBool "no escape sequence" ('\ESC' `notElem` coloured),
          testCase "an empty NO_COLOR means nothing" $ do
            coloured <- onTerminal [("TERM", "xterm"), ("NO_COLOR", "")]
            assertBool "an escape sequence" ('\ESC' `elem` coloured),
          testCase "not on a dumb terminal" $ do
            coloured <- onTerminal [("TERM", "dumb")]
            assertBool "no escape sequence" ('\ESC' `notElem` coloured)
        ]
    ]
  where
    region = program fixture "region"
    versionText = read "\"0.1.0\""
    -- The first line of the summary.
    onTerminal set =
      withDialogue
        (("CAPSTAN_LIBDIR", fixtureLibrary fixture) : set)
        (program fixture "terminal")
        [fixtureCommand fixture, "run", "--report", "--", region]
        (\dialogue -> send dialogue "" >> nextLine dialogue)
