-- | @capstan doctor@.
module DoctorTests (tests) where

import Data.Aeson (Value (..))
import qualified Data.ByteString.Char8 as C
import Data.Foldable (toList)
import qualified Data.Text as T
import Fixture
import Interaction
import System.Directory
import System.Exit
import System.FilePath ((</>))
import System.Posix.Files (setFileMode)
import System.Process.Typed (proc, runProcess_)
import Test.Tasty
import Test.Tasty.HUnit

-- | All of them.
tests :: Fixture -> TestTree
tests fixture =
  testGroup
    "doctor"
    [ testCase "a healthy machine" $ do
        result <- with [] []
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["4 in the affinity mask", "worth 3", "processes and threads", "stack", "GHC 1.2.3"]
        found [] [] >>= has "ok" "rts-starts",
      testCase "a substrate that does not start" $ do
        result <- with [("FAKE_NO_RTS", "1")] []
        resultExit result @?= ExitFailure 1
        assertContains (resultOut result) ["problem", "no such substrate"],
      testCase "no runtime" $ do
        result <- with [("CAPSTAN_LIBDIR", "/tmp")] []
        resultExit result @?= ExitFailure 1
        found [("CAPSTAN_LIBDIR", "/tmp")] [] >>= has "problem" "runtime-missing",
      testCase "a quota, and a malformed variable" $ do
        findings <- found [("OMP_DYNAMIC", "nonsense")] []
        has "note" "quota" findings
        has "problem" "setting-refused" findings,
      testCase "more threads than processors" $
        found [("OMP_NUM_THREADS", "64")] [] >>= has "note" "oversubscribed",
      testCase "few processes allowed" $ do
        result <-
          execute
            usual {setupSet = [("CAPSTAN_LIBDIR", fixtureLibrary fixture)]}
            "bash"
            ["-c", "ulimit -Sv 4000000; exec \"$@\"", "bash", fixtureCommand fixture, "doctor"]
        assertContains (resultOut result) ["note", "the address space is limited to 3906 MiB"],
      testCase "a program on one runtime, which run would serve" $ do
        findings <- found [] [program fixture "region"]
        has "ok" "one-runtime" findings
        has "ok" "served" findings
        result <- with [] [program fixture "region"]
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["OpenMP", "GNU libgomp", "Called by", "region (GOMP_*)"],
      testCase "a program whose name is not UTF-8" $ do
        let named = fixtureDirectory fixture </> "\xdcff\xdc80"
        copyFile (program fixture "region") named
        found [] [named] >>= has "ok" "one-runtime",
      testCase "two runtimes" $ do
        both <- withTwoRuntimes
        findings <- found [] [both]
        has "problem" "several-runtimes" findings
        has "problem" "partly-served" findings,
      testCase "a program with Capstan linked into it" $ do
        let linked = fixtureDirectory fixture </> "linked"
        compile ["-fopenmp", "-rdynamic", source "region.c", source "fake.c", "-o", linked]
        findings <- found [] [linked]
        has "ok" "linked" findings
        lacks "several-runtimes" findings,
      testCase "a program with parts of two runtimes" $ do
        let parts = fixtureDirectory fixture </> "parts"
        writeFile (parts <> ".c") "void GOMP_atomic_start(void) {}\nint main(void) {\n  volatile int ran = 0;\n#pragma omp parallel\n  ran = 1;\n  return !ran;\n}\n"
        compile ["-fopenmp", "-rdynamic", parts <> ".c", "-o", parts]
        findings <- found [] [parts]
        has "problem" "mixed-runtime" findings
        lacks "one-runtime" findings,
      testCase "a program with Capstan behind another runtime" $ do
        let behind = fixtureDirectory fixture </> "behind"
        compile ["-shared", "-fPIC", source "fake.c", "-o", behind <> ".so"]
        compile ["-fopenmp", source "region.c", "-Wl,--no-as-needed", "-lgomp", behind <> ".so", "-o", behind]
        found [] [behind] >>= has "problem" "overtaken"
        compile ["-fopenmp", source "region.c", "-Wl,--no-as-needed", behind <> ".so", "-lgomp", "-o", behind]
        findings <- found [] [behind]
        has "ok" "one-runtime" findings
        has "note" "idle-runtime" findings
        lacks "overtaken" findings,
      testCase "a program whose hash table tells no number of symbols" $ do
        -- GNU's linker writes such a one for a program that has no symbols but those that it calls.
        let caller = fixtureDirectory fixture </> "caller"
        writeFile (caller <> ".c") "int omp_get_num_threads(void);\nvoid _start(void) { omp_get_num_threads(); }\n"
        compile ["-nostartfiles", "-fopenmp", "-Wl,--hash-style=gnu", caller <> ".c", "-o", caller]
        found [] [caller] >>= has "ok" "one-runtime",
      testCase "a weak reference is no call" $ do
        let weak = fixtureDirectory fixture </> "weak"
        writeFile (weak <> ".c") "__attribute__((weak)) int omp_get_num_threads(void);\nint main(void) { return omp_get_num_threads ? 1 : 0; }\n"
        compile [weak <> ".c", "-o", weak]
        found [] [weak] >>= has "note" "no-openmp",
      testCase "a program without OpenMP" $
        found [] [program fixture "plain"] >>= has "note" "no-openmp",
      testCase "a static program" $ do
        findings <- found [] [program fixture "static"]
        has "problem" "static" findings,
      testCase "a script: its interpreter, through env" $ do
        let script = fixtureDirectory fixture </> "script.sh"
        writeFile script "#!/usr/bin/env -S VARIABLE=1 sh -e\n"
        setFileMode script 0o755
        result <- with [] [script]
        assertContains (resultOut result) [script <> " -> ", "/sh"]
        found [] [script] >>= has "note" "script",
      testCase "a script without its interpreter" $ do
        let script = fixtureDirectory fixture </> "broken.sh"
        writeFile script "#!/no/such/interpreter\n"
        setFileMode script 0o755
        result <- with [] [script]
        resultExit result @?= ExitFailure 66
        assertContains (resultErr result) ["/no/such/interpreter"],
      testCase "neither binary nor script" $ do
        let file = fixtureDirectory fixture </> "text"
        writeFile file "just text\n"
        found [] [file] >>= has "problem" "no-program",
      testCase "a truncated binary" $ do
        whole <- C.readFile (program fixture "region")
        let file = fixtureDirectory fixture </> "truncated"
        C.writeFile file (C.take 200 whole)
        setFileMode file 0o755
        result <- with [] [file]
        assertBool "it says something and ends" (resultExit result `elem` [ExitSuccess, ExitFailure 1]),
      testCase "a library that is missing" $ do
        orphan <- withMissingLibrary
        found [] [orphan] >>= has "problem" "library-missing",
      testCase "a directory: what its libraries load from elsewhere" $ do
        let directory = fixtureDirectory fixture </> "plugins"
        createDirectoryIfMissing True directory
        compile ["-shared", "-fPIC", "-fopenmp", source "region.c", "-o", directory </> "plugin.so"]
        findings <- found [] [directory]
        has "ok" "one-runtime" findings
        has "ok" "served" findings,
      testCase "a directory with a renamed runtime" $ do
        let directory = fixtureDirectory fixture </> "package"
        createDirectoryIfMissing True (directory </> "package.libs")
        compile ["-shared", "-fPIC", source "fake.c", "-Dcapstan_fake=other", "-o", directory </> "package.libs" </> "libgomp-0a1b2c3d.so.1.0.0"]
        findings <- found [] [directory]
        has "ok" "one-runtime" findings
        has "note" "bundled" findings
        copyFile (directory </> "package.libs" </> "libgomp-0a1b2c3d.so.1.0.0") (directory </> "libgomp-9.so")
        again <- found [] [directory]
        has "problem" "several-runtimes" again
        nothing <- found [] ["/etc"]
        has "note" "no-openmp" nothing,
      testCase "a running process" $
        withDialogue [("CAPSTAN_LIBDIR", fixtureLibrary fixture)] (fixtureCommand fixture) ["run", "--", program fixture "listen"] $ \dialogue -> do
          _ <- expect dialogue "ready "
          pid <- dialoguePid dialogue
          findings <- found [] ["--pid", show pid]
          has "ok" "served" findings
          result <- with [] ["--pid", show pid]
          assertContains (resultOut result) ["Process", show pid, "1 thread", "Capstan", "LD_PRELOAD="],
      testCase "what does not exist" $ do
        program' <- with [] ["no-such-program"]
        resultExit program' @?= ExitFailure 66
        process <- with [] ["--pid", "999999999"]
        resultExit process @?= ExitFailure 66
        nonsense <- with [] ["--pid", "x"]
        resultExit nonsense @?= ExitFailure 64
    ]
  where
    with set arguments = capstanWith usual {setupSet = set} fixture ("doctor" : arguments)
    source name = fixtureSources fixture </> name
    compile arguments = runProcess_ (proc "gcc" (["-O1"] <> arguments))
    string = String . T.pack

    -- Severity and name of each finding.
    found set arguments = do
      result <- with set ("--json" : arguments)
      value <- json (resultOut result)
      findings <- field "findings" value
      healthy <- field "healthy" value
      healthy @?= Bool (resultExit result == ExitSuccess)
      case findings of
        Array list -> mapM (\f -> (,) <$> field "severity" f <*> field "name" f) (toList list)
        _ -> assertFailure "findings are a list"
    has severity name findings =
      assertBool (severity <> ": " <> name <> " among " <> show findings) ((string severity, string name) `elem` findings)

    lacks name findings =
      assertBool (name <> " among " <> show findings) (string name `notElem` map snd findings)

    -- A program that calls GCC's entry points and another that LLVM's compiler
    -- would have made, with a runtime for each.
    withTwoRuntimes = do
      let directory = fixtureDirectory fixture
          both = directory </> "both"
      writeFile (directory </> "llvm.c") "void __kmpc_fork_call(void) {}\n"
      writeFile (directory </> "both.c") "void __kmpc_fork_call(void);\nint main(void) {\n  __kmpc_fork_call();\n  volatile int ran = 0;\n#pragma omp parallel\n  ran = 1;\n  return !ran;\n}\n"
      compile ["-shared", "-fPIC", directory </> "llvm.c", "-o", directory </> "libomp.so"]
      compile ["-fopenmp", directory </> "both.c", directory </> "libomp.so", "-o", both]
      pure both

    withMissingLibrary = do
      let directory = fixtureDirectory fixture
          orphan = directory </> "orphan-of-library"
          library = directory </> "libgone.so"
      writeFile (directory </> "gone.c") "int gone(void) { return 0; }\n"
      writeFile (directory </> "orphan.c") "int gone(void);\nint main(void) { return gone(); }\n"
      compile ["-shared", "-fPIC", directory </> "gone.c", "-Wl,-soname,libgone.so", "-o", library]
      compile [directory </> "orphan.c", library, "-o", orphan]
      removeFile library
      pure orphan
