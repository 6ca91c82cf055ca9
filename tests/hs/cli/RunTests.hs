-- | @capstan run@ without a report: it runs the program, and does nothing else.
module RunTests (tests) where

import Control.Monad (forM_)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.List (isPrefixOf)
import Fixture
import System.Directory
import System.Exit
import System.FilePath (takeDirectory, (</>))
import System.Posix.Files
import System.Posix.User (getEffectiveUserID)
import Test.Tasty
import Test.Tasty.HUnit

-- | All tests of @run@.
tests :: Fixture -> TestTree
tests fixture =
  testGroup
    "run"
    [ testGroup "passes through" (passing fixture <$> [[], ["--report=/dev/null"]]),
      testGroup "sets" (settings fixture),
      testGroup "in spite of" (obstacles fixture),
      testGroup "refuses" (refusals fixture),
      privileged fixture
    ]

-- With and without a report: the program must see no difference.
passing :: Fixture -> [String] -> TestTree
passing fixture options =
  testGroup
    (if null options then "without a report" else "with a report")
    [ testCase "exit codes" . forM_ [0, 1, 2, 124, 125, 126, 127, 255] $ \code -> do
        result <- run ["sh", "-c", "exit " <> show code]
        resultExit result @?= (if code == 0 then ExitSuccess else ExitFailure code)
        resultErr result @?= B.empty,
      testCase "death by signal" . forM_ [1, 2, 3, 6, 9, 11, 13, 15] $ \signal -> do
        result <- run ["sh", "-c", "kill -" <> show signal <> " $$"]
        resultExit result @?= ExitFailure (negate signal),
      testCase "arguments, byte for byte" . forM_ [usual, usual {setupSet = [("LC_ALL", "C")]}] $ \setup -> do
        let arguments = ["two words", "", "+RTS", "-N4", "--RTS", "--", "--help", "--report", "\955", "\xdcff\xdc80", "a\nb", "'\"$x"]
            bytes = map C.pack ["two words", "", "+RTS", "-N4", "--RTS", "--", "--help", "--report", "\xce\xbb", "\xff\x80", "a\nb", "'\"$x"]
        result <- runWith setup (program fixture "arguments" : arguments)
        C.split '\0' (resultOut result) @?= bytes <> [B.empty],
      testCase "input and output" $ do
        let input = B.concat (replicate 20000 (B.pack [0 .. 255]))
        result <- runWith usual {setupInput = input} ["cat"]
        assertBool "the same five megabytes" (resultOut result == input),
      testCase "signal state, descriptors, limits, environment" $ do
        let state = ["sh", "-c", "trap '' HUP PIPE INT CHLD TSTP USR1; ulimit -n 1024; exec \"$@\" 7</dev/null", "sh"]
            look = [program fixture "state"]
        direct <- executeDirect (state <> look)
        under <- executeDirect (state <> (fixtureCommand fixture : "run" : options <> ("--" : look)))
        assertContains (resultOut direct) ["signal 1 ignored", "descriptor 7 /dev/null"]
        C.lines (resultOut under) @?= C.lines (resultOut direct),
      testCase "an ignored SIGCHLD does not lose the exit code" $ do
        result <-
          executeDirect $
            ["sh", "-c", "trap '' CHLD; exec \"$@\"", "sh", fixtureCommand fixture, "run"] <> options <> ["--", "sh", "-c", "exit 5"]
        resultExit result @?= ExitFailure 5,
      testCase "a program without --" $ do
        result <- capstan fixture (["run"] <> options <> ["sh", "-c", "echo $1", "-", "--threads"])
        resultOut result @?= C.pack "--threads\n",
      testCase "a script that no kernel knows, as a shell would" $ do
        let script = fixtureDirectory fixture </> "script"
        writeFile script "echo script $1\n"
        setFileMode script (stdFileMode `unionFileModes` ownerExecuteMode)
        result <- run [script, "x"]
        resultOut result @?= C.pack "script x\n",
      testCase "GHCRTS is for others" $ do
        result <- runWith usual {setupSet = [("GHCRTS", "-N8 --nonsense")]} ["sh", "-c", "echo $GHCRTS"]
        resultOut result @?= C.pack "-N8 --nonsense\n"
    ]
  where
    run = runWith usual
    runWith setup command = capstanWith setup fixture (["run"] <> options <> ("--" : command))
    -- The descriptors of both must be the same, so both are started in the same way.
    executeDirect command = case command of
      file : arguments -> execute usual {setupSet = [("CAPSTAN_LIBDIR", fixtureLibrary fixture)]} file arguments
      [] -> assertFailure "no command"

-- The program is served although the loader, /proc or readlink is missing.
obstacles :: Fixture -> [TestTree]
obstacles fixture =
  [ testCase "a directory whose name the loader takes for something else" . forM_ names $ \name -> do
      let directory = fixtureDirectory fixture </> name
      copyRuntime fixture directory
      forM_ [[], ["--report=/dev/null"]] $ \options -> do
        result <- with directory (["run"] <> options <> ["--", program fixture "region", "7"])
        resultErr result @?= B.empty
        resultExit result @?= ExitFailure 7
        preload <- with directory (["run"] <> options <> ["--", "sh", "-c", "echo $LD_PRELOAD"])
        assertBool "by a link" (not (C.pack directory `B.isPrefixOf` resultOut preload) || plain name)
      environment <- with directory ["env"]
      resultExit environment @?= ExitSuccess
      assertContains (resultOut environment) ["OMP_NUM_THREADS"],
    testCase "the link is no one else's to change, and stays the same" $ do
      let directory = fixtureDirectory fixture </> "$LIB"
          value = with directory ["run", "--", "sh", "-c", "echo $LD_PRELOAD"]
      copyRuntime fixture directory
      one <- value
      two <- value
      resultOut one @?= resultOut two
      assertBool (show one) (C.pack (fixtureDirectory fixture </> "capstan-") `B.isPrefixOf` resultOut one)
      let place = takeDirectory (takeDirectory (C.unpack (resultOut one)))
      status <- getSymbolicLinkStatus place
      user <- getEffectiveUserID
      fileOwner status @?= user
      fileMode status `intersectFileModes` (groupWriteMode `unionFileModes` otherWriteMode) @?= 0,
    testCase "neither /proc nor readlink is needed" . forM_ ["proc", "empty-proc", "eacces", "enosys"] $ \what ->
      forM_ [["run"], ["run", "--report=/dev/null"]] $ \start -> do
        result <- without what (start <> ["--", program fixture "region", "7"])
        if resultExit result == ExitFailure 77
          then pure () -- this environment cannot take it away
          else do
            resultErr result @?= B.empty
            resultExit result @?= ExitFailure 7
            environment <- without what ["env"]
            assertContains (resultOut environment) ["OMP_NUM_THREADS"]
            doctor <- without what ["doctor", program fixture "region"]
            assertLacks (resultErr doctor) "capstan:"
            assertContains (resultOut doctor) ["rts substrate starts"],
    testCase "of a process nothing can be said without /proc" $ do
      result <- without "proc" ["doctor", "--pid", "1"]
      if resultExit result == ExitFailure 77
        then pure ()
        else do
          resultExit result @?= ExitFailure 69
          assertContains (resultErr result) ["/proc is not mounted"]
  ]
  where
    names = ["two words", "a:b", "$LIB", "${ORIGIN}", "x$PLATFORM y", "gr\252n", "\xdcff"]
    plain = not . any (`elem` " :$")
    with directory = capstanWith usual {setupSet = [("CAPSTAN_LIBDIR", directory), ("XDG_RUNTIME_DIR", fixtureDirectory fixture)]} fixture
    without what arguments =
      execute
        usual {setupSet = [("CAPSTAN_LIBDIR", fixtureLibrary fixture)]}
        (program fixture "without")
        (what : fixtureCommand fixture : arguments)

copyRuntime :: Fixture -> FilePath -> IO ()
copyRuntime fixture directory = do
  createDirectoryIfMissing False directory
  forM_ ["libgomp.so.1.0.0", "libcapstan-rts.so"] $ \file ->
    copyFile (fixtureLibrary fixture </> file) (directory </> file)

settings :: Fixture -> [TestTree]
settings fixture =
  [ testCase "the runtime is preloaded, and serves" $ do
      result <- capstan fixture ["run", "--", program fixture "region", "7"]
      resultExit result @?= ExitFailure 7
      shown <- value [] [] "LD_PRELOAD"
      shown @?= runtime,
    testCase "a preloaded library keeps its place in front" $ do
      shown <- value [("LD_PRELOAD", "/none/a.so /none/b.so")] [] "LD_PRELOAD"
      shown @?= "/none/a.so:/none/b.so:" <> runtime,
    testCase "another OpenMP runtime comes after ours" $ do
      shown <- value [("LD_PRELOAD", "/none/a.so:/none/libgomp.so.1:/none/b.so")] [] "LD_PRELOAD"
      shown @?= "/none/a.so:" <> runtime <> ":/none/libgomp.so.1:/none/b.so",
    testCase "twice is once" $ do
      result <-
        capstan
          fixture
          ["run", "--", fixtureCommand fixture, "run", "--", "sh", "-c", "echo $LD_PRELOAD"]
      C.unpack (resultOut result) @?= runtime <> "\n",
    testCase "the substrate: rts, unless told otherwise" $ do
      usually <- value [] [] "CAPSTAN_SUBSTRATE"
      usually @?= "rts"
      told <- value [("CAPSTAN_SUBSTRATE", "pthread")] [] "CAPSTAN_SUBSTRATE"
      told @?= "pthread"
      asked <- value [("CAPSTAN_SUBSTRATE", "rts")] ["--substrate", "pthread"] "CAPSTAN_SUBSTRATE"
      asked @?= "pthread",
    testCase "libraries with pools are adopted, unless told otherwise" $ do
      usually <- value [] [] "CAPSTAN_ADOPT"
      usually @?= "all"
      told <- value [("CAPSTAN_ADOPT", "fftw")] ["--threads", "2"] "CAPSTAN_ADOPT"
      told @?= "fftw"
      let place = fixtureDirectory fixture </> "noticing"
          preload adopt options = do
            result <- execute usual {setupSet = [("CAPSTAN_LIBDIR", place), ("CAPSTAN_ADOPT", adopt)]} (fixtureCommand fixture) (["run"] <> options <> ["--", "sh", "-c", "echo $LD_PRELOAD"])
            pure (C.unpack (resultOut result))
          files names = foldr1 (\a b -> a <> ":" <> b) (map (place </>) names) <> "\n"
      createDirectory place
      forM_ ["libgomp.so.1.0.0", "libcapstan-rts.so", "libcapstan-adopt.so"] $ \name -> copyFile runtime (place </> name)
      forM_ [[], ["--threads", "2"]] $ \options -> do
        preload "" options >>= (@?= files ["libgomp.so.1.0.0", "libcapstan-adopt.so"])
        preload "none" options >>= (@?= files ["libgomp.so.1.0.0"]),
    testCase "threads" $ do
      unset <- value [] [] "OMP_NUM_THREADS"
      unset @?= ""
      one <- value [("OMP_NUM_THREADS", "5")] ["--threads", "3"] "OMP_NUM_THREADS"
      one @?= "3"
      levels <- value [] ["-t4,2"] "OMP_NUM_THREADS"
      levels @?= "4,2",
    testCase "without a report it becomes the program: the same process" $ do
      result <-
        execute
          usual {setupSet = [("CAPSTAN_LIBDIR", fixtureLibrary fixture)]}
          "sh"
          ["-c", "echo $$; exec \"$@\"", "sh", fixtureCommand fixture, "run", "--", "sh", "-c", "echo $$; echo ${CAPSTAN_REPORT-none}"]
      case C.lines (resultOut result) of
        [shell, became, report] -> do
          became @?= shell
          report @?= C.pack "none"
        other -> assertFailure (show other)
  ]
  where
    runtime = fixtureLibrary fixture </> "libgomp.so.1.0.0"
    value set options name = do
      result <- capstanWith usual {setupSet = set} fixture (["run"] <> options <> ["--", "sh", "-c", "printf '%s\\n' \"$" <> name <> "\""])
      resultExit result @?= ExitSuccess
      pure (concat (take 1 (lines (C.unpack (resultOut result)))))

refusals :: Fixture -> [TestTree]
refusals fixture =
  [ fails "no such program" 127 ["--", "no-such-program"] ["cannot run no-such-program"],
    fails "no such path" 127 ["--", "./no/such/program"] ["cannot run ./no/such/program"],
    fails "an empty name" 127 ["--", ""] ["cannot run"],
    fails "not executable" 126 ["--", "/etc/passwd"] ["cannot run /etc/passwd", "ermission denied"],
    fails "a directory" 126 ["--", "/tmp"] ["cannot run /tmp"],
    fails "no such program, with a report" 127 ["--report", "--", "no-such-program"] ["cannot run no-such-program"],
    fails "not executable, with a report" 126 ["--report", "--", "/etc/passwd"] ["cannot run /etc/passwd"],
    fails "no program" 125 [] ["PROGRAM"],
    fails "an unknown option" 125 ["--nonsense", "true"] ["--nonsense"],
    fails "no threads" 125 ["--threads", "0", "true"] ["--threads", "from 1"],
    fails "threads that are no number" 125 ["--threads", "4,", "true"] ["--threads"],
    fails "an unknown substrate" 125 ["--substrate", "fibres", "true"] ["--substrate", "fibres"],
    fails "a report that cannot be written" 125 ["--report=/no/such/directory/file", "--", "sh", "-c", "echo ran"] ["cannot write the report"],
    testCase "a script without its interpreter" $ do
      let script = fixtureDirectory fixture </> "orphan"
      writeFile script "#!/no/such/interpreter\n"
      setFileMode script (stdFileMode `unionFileModes` ownerExecuteMode)
      result <- capstan fixture ["run", "--", script]
      resultExit result @?= ExitFailure 127
      assertContains (resultErr result) ["is there, but the interpreter"],
    testCase "a directory without the runtime" $ do
      result <- capstanWith usual {setupSet = [("CAPSTAN_LIBDIR", "/tmp")]} fixture ["run", "--", "true"]
      resultExit result @?= ExitFailure 125
      assertContains (resultErr result) ["CAPSTAN_LIBDIR is /tmp"],
    testCase "a directory that the loader cannot be told, where no link can be made" $ do
      let directory = fixtureDirectory fixture </> "two words"
          -- A file blocks each place of the folder for links.
          hide = "user=$(id -u); for d in /tmp /var/tmp /dev/shm; do mount -t tmpfs none $d; touch $d/capstan-$user; done; exec \"$@\""
      copyRuntime fixture directory
      allowed <- execute usual "unshare" ["-m", "true"]
      if resultExit allowed /= ExitSuccess || "/tmp/" `isPrefixOf` fixtureCommand fixture
        then pure ()
        else do
          -- The file must be there although /tmp is hidden.
          result <-
            execute
              usual {setupSet = [("CAPSTAN_LIBDIR", "/run/two words"), ("XDG_RUNTIME_DIR", ""), ("TMPDIR", "relative")]}
              "unshare"
              ["-m", "sh", "-c", "mount -t tmpfs none /run && cp -r \"" <> directory <> "\" /run; " <> hide, "sh", fixtureCommand fixture, "run", "--", "true"]
          resultExit result @?= ExitFailure 125
          assertContains (resultErr result) ["cannot preload", "a blank, a colon or a $"],
    testCase "a program is found past a directory and a file that cannot be executed" $ do
      let directory = fixtureDirectory fixture </> "path"
      createDirectoryIfMissing True (directory </> "one" </> "true")
      createDirectoryIfMissing True (directory </> "two")
      writeFile (directory </> "two" </> "true") "not executable"
      result <-
        capstanWith
          usual {setupSet = [("PATH", directory </> "one" <> ":" <> directory </> "two" <> ":/usr/bin:/bin")]}
          fixture
          ["run", "--", "true"]
      resultExit result @?= ExitSuccess
  ]
  where
    fails name code arguments words' = testCase name $ do
      result <- capstan fixture ("run" : arguments)
      resultExit result @?= ExitFailure code
      resultOut result @?= B.empty
      assertContains (resultErr result) words'

privileged :: Fixture -> TestTree
privileged fixture = testCase "says that a set-user-ID program cannot be served, and runs it" $ do
  user <- getEffectiveUserID
  file <-
    if user == 0
      then do
        let copy = fixtureDirectory fixture </> "privileged"
        copyFile (program fixture "plain") copy
        setOwnerAndGroup copy 65534 65534
        setFileMode copy (setUserIDMode `unionFileModes` 0o755)
        -- The user that the process becomes must reach the folder.
        setFileMode (fixtureDirectory fixture) 0o755
        pure copy
      else pure "/usr/bin/newgrp"
  result <- capstanWith usual {setupInput = C.pack "exit 0\n"} fixture ["run", "--", file]
  resultExit result @?= ExitSuccess
  assertContains (resultErr result) ["warning", "set-user-ID", "LD_PRELOAD"]
