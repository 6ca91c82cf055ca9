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

-- | All tests of @doctor@.
tests :: Fixture -> TestTree
tests fixture =
  testGroup "doctor" (concatMap ($ fixture) [machineTests, runtimeTests, poolTests, symbolTests, fileTests, placeTests])

-- | The machine, the installation and the settings.
machineTests :: Fixture -> [TestTree]
machineTests fixture =
  [ testCase "a healthy machine" $ do
      result <- with fixture [] []
      resultExit result @?= ExitSuccess
      assertContains (resultOut result) ["4 in the affinity mask", "worth 3", "processes and threads", "stack", "GHC 1.2.3"]
      found fixture [] [] >>= has "ok" "rts-starts",
    testCase "a substrate that does not start" $ do
      result <- with fixture [("FAKE_NO_RTS", "1")] []
      resultExit result @?= ExitFailure 1
      assertContains (resultOut result) ["problem", "no such substrate"],
    testCase "no runtime" $ do
      result <- with fixture [("CAPSTAN_LIBDIR", "/tmp")] []
      resultExit result @?= ExitFailure 1
      found fixture [("CAPSTAN_LIBDIR", "/tmp")] [] >>= has "problem" "runtime-missing",
    testCase "a quota, and a malformed variable" $ do
      findings <- found fixture [("OMP_DYNAMIC", "nonsense")] []
      has "note" "quota" findings
      has "problem" "setting-refused" findings,
    testCase "more threads than processors" $
      found fixture [("OMP_NUM_THREADS", "64")] [] >>= has "note" "oversubscribed",
    testCase "few processes allowed" $ do
      result <-
        execute
          usual {setupSet = [("CAPSTAN_LIBDIR", fixtureLibrary fixture)]}
          "bash"
          ["-c", "ulimit -Sv 4000000; exec \"$@\"", "bash", fixtureCommand fixture, "doctor"]
      assertContains (resultOut result) ["note", "the address space is limited to 3906 MiB"]
  ]

-- | The runtimes of a program, and the runtime that serves.
runtimeTests :: Fixture -> [TestTree]
runtimeTests fixture =
  [ testCase "a program on one runtime, which run would serve" $ do
      findings <- found fixture [] [program fixture "region"]
      has "ok" "one-runtime" findings
      has "ok" "served" findings
      result <- with fixture [] [program fixture "region"]
      resultExit result @?= ExitSuccess
      assertContains (resultOut result) ["OpenMP", "GNU libgomp", "Called by", "region (GOMP_*)"],
    testCase "a program whose name is not UTF-8" $ do
      let named = fixtureDirectory fixture </> "\xdcff\xdc80"
      copyFile (program fixture "region") named
      found fixture [] [named] >>= has "ok" "one-runtime",
    testCase "two runtimes" $ do
      both <- withTwoRuntimes fixture
      findings <- found fixture [] [both]
      has "problem" "several-runtimes" findings
      has "problem" "partly-served" findings,
    testCase "a program with Capstan linked into it" $ do
      let linked = fixtureDirectory fixture </> "linked"
      compile ["-fopenmp", "-rdynamic", source fixture "region.c", source fixture "fake.c", "-o", linked]
      findings <- found fixture [] [linked]
      has "ok" "linked" findings
      lacks "several-runtimes" findings,
    testCase "a program with parts of two runtimes" $ do
      let parts = fixtureDirectory fixture </> "parts"
      writeFile (parts <> ".c") "void GOMP_atomic_start(void) {}\nint main(void) {\n  volatile int ran = 0;\n#pragma omp parallel\n  ran = 1;\n  return !ran;\n}\n"
      compile ["-fopenmp", "-rdynamic", parts <> ".c", "-o", parts]
      findings <- found fixture [] [parts]
      has "problem" "mixed-runtime" findings
      lacks "one-runtime" findings,
    testCase "a program with Capstan behind another runtime" $ do
      let behind = fixtureDirectory fixture </> "behind"
      compile ["-shared", "-fPIC", source fixture "fake.c", "-o", behind <> ".so"]
      compile ["-fopenmp", source fixture "region.c", "-Wl,--no-as-needed", "-lgomp", behind <> ".so", "-o", behind]
      found fixture [] [behind] >>= has "problem" "overtaken"
      compile ["-fopenmp", source fixture "region.c", "-Wl,--no-as-needed", behind <> ".so", "-lgomp", "-o", behind]
      findings <- found fixture [] [behind]
      has "ok" "one-runtime" findings
      has "note" "idle-runtime" findings
      lacks "overtaken" findings
  ]

-- | Libraries with threads of their own.
poolTests :: Fixture -> [TestTree]
poolTests fixture =
  [ testCase "an OpenBLAS that can be told whose threads to use, and one that is too old" $ do
      new <- library "new.so" (openblas <> "void scipy_openblas_set_threads_callback_function64_(void *f) { (void)f; }\n") []
      findings <- found fixture [] [new]
      has "ok" "pool-told" findings
      lacks "pool-own" findings
      result <- with fixture [] [new]
      assertContains (resultOut result) ["Pool        OpenBLAS", "new.so brings OpenBLAS's own threads"]
      old <- library "old.so" openblas [] >>= \file -> with fixture [] [file]
      assertContains (resultOut old) ["too old to be told", "0.3.27 or newer, or set OPENBLAS_NUM_THREADS=1"],
    testCase "one that computes in OpenMP's regions brings no pool" $ do
      file <- library "regions.so" (openblas <> "void work(void) {\n#pragma omp parallel\n  blas_num_threads++;\n}\n") ["-fopenmp"]
      findings <- found fixture [] [file]
      has "ok" "one-runtime" findings
      lacks "pool-told" findings
      lacks "pool-own" findings,
    testCase "MKL and what clang compiled compute in regions too" $ do
      mkl <- library "libmkl_core.so.3" "int fftw_init_threads(void) { return 1; }\n" []
      llvm <- library "llvm.so" (openblas <> "void __kmpc_barrier(void *place, int thread);\nvoid work(void) {\n  __kmpc_barrier(0, 0);\n}\n") []
      found fixture [] [mkl] >>= lacks "pool-own"
      findings <- found fixture [] [llvm]
      lacks "pool-told" findings
      lacks "pool-own" findings,
    testCase "FFTW, and BLIS, which nobody can tell" $ do
      fftw <- library "libfftw3f_threads.so" "int fftwf_init_threads(void) { return 1; }\nvoid fftwf_threads_set_callback(void) {}\n" []
      found fixture [] [fftw] >>= has "ok" "pool-told"
      blis <- library "blis.so" "void bli_thread_set_num_threads(long n) { (void)n; }\n" [] >>= \file -> with fixture [] [file]
      assertContains (resultOut blis) ["BLIS's own threads, and cannot be told", "Set BLIS_NUM_THREADS=1"],
    testCase "oneTBB, which asks" $ do
      tbb <- library "libtbb.so.12" "void work(void) {}\n" []
      found fixture [] [tbb] >>= has "ok" "pool-asks",
    testCase "a directory of libraries with pools" $ do
      let directory = fixtureDirectory fixture </> "pools"
      createDirectoryIfMissing True directory
      file <- library "inside.so" openblas []
      copyFile file (directory </> "inside.so")
      findings <- found fixture [] [directory]
      has "note" "pool-own" findings
      has "note" "no-openmp" findings
  ]
  where
    openblas = "int blas_num_threads;\nint exec_blas(long n, void *q) { (void)q; return n == 0; }\n"
    library name text flags = do
      let file = fixtureDirectory fixture </> name
      writeFile (file <> ".c") text
      compile (["-shared", "-fPIC", "-Wl,-soname," <> name] <> flags <> [file <> ".c", "-o", file])
      pure file

-- | Programs that call a runtime, or none.
symbolTests :: Fixture -> [TestTree]
symbolTests fixture =
  [ testCase "a program whose hash table tells no number of symbols" $ do
      -- GNU's linker writes such a hash table for a program whose only symbols are those that it
      -- calls.
      let caller = fixtureDirectory fixture </> "caller"
      writeFile (caller <> ".c") "int omp_get_num_threads(void);\nvoid _start(void) { omp_get_num_threads(); }\n"
      compile ["-nostartfiles", "-fopenmp", "-Wl,--hash-style=gnu", caller <> ".c", "-o", caller]
      found fixture [] [caller] >>= has "ok" "one-runtime",
    testCase "a weak reference is no call" $ do
      let weak = fixtureDirectory fixture </> "weak"
      writeFile (weak <> ".c") "__attribute__((weak)) int omp_get_num_threads(void);\nint main(void) { return omp_get_num_threads ? 1 : 0; }\n"
      compile [weak <> ".c", "-o", weak]
      found fixture [] [weak] >>= has "note" "no-openmp",
    testCase "a program without OpenMP" $
      found fixture [] [program fixture "plain"] >>= has "note" "no-openmp"
  ]

-- | Files that the loader does not know as programs.
fileTests :: Fixture -> [TestTree]
fileTests fixture =
  [ testCase "a static program" $ do
      findings <- found fixture [] [program fixture "static"]
      has "problem" "static" findings,
    testCase "a script: its interpreter, through env" $ do
      let script = fixtureDirectory fixture </> "script.sh"
      writeFile script "#!/usr/bin/env -S VARIABLE=1 sh -e\n"
      setFileMode script 0o755
      result <- with fixture [] [script]
      assertContains (resultOut result) [script <> " -> ", "/sh"]
      found fixture [] [script] >>= has "note" "script",
    testCase "a script without its interpreter" $ do
      let script = fixtureDirectory fixture </> "broken.sh"
      writeFile script "#!/no/such/interpreter\n"
      setFileMode script 0o755
      result <- with fixture [] [script]
      resultExit result @?= ExitFailure 66
      assertContains (resultErr result) ["/no/such/interpreter"],
    testCase "neither binary nor script" $ do
      let file = fixtureDirectory fixture </> "text"
      writeFile file "just text\n"
      found fixture [] [file] >>= has "problem" "no-program",
    testCase "a truncated binary" $ do
      whole <- C.readFile (program fixture "region")
      let file = fixtureDirectory fixture </> "truncated"
      C.writeFile file (C.take 200 whole)
      setFileMode file 0o755
      result <- with fixture [] [file]
      assertBool "it says something and ends" (resultExit result `elem` [ExitSuccess, ExitFailure 1]),
    testCase "a library that is missing" $ do
      orphan <- withMissingLibrary fixture
      found fixture [] [orphan] >>= has "problem" "library-missing"
  ]

-- | Directories, processes, and missing files.
placeTests :: Fixture -> [TestTree]
placeTests fixture =
  [ testCase "a directory: what its libraries load from elsewhere" $ do
      let directory = fixtureDirectory fixture </> "plugins"
      createDirectoryIfMissing True directory
      compile ["-shared", "-fPIC", "-fopenmp", source fixture "region.c", "-o", directory </> "plugin.so"]
      findings <- found fixture [] [directory]
      has "ok" "one-runtime" findings
      has "ok" "served" findings,
    testCase "a directory with a renamed runtime" $ do
      let directory = fixtureDirectory fixture </> "package"
      createDirectoryIfMissing True (directory </> "package.libs")
      compile ["-shared", "-fPIC", source fixture "fake.c", "-Dcapstan_fake=other", "-o", directory </> "package.libs" </> "libgomp-0a1b2c3d.so.1.0.0"]
      findings <- found fixture [] [directory]
      has "ok" "one-runtime" findings
      has "note" "bundled" findings
      copyFile (directory </> "package.libs" </> "libgomp-0a1b2c3d.so.1.0.0") (directory </> "libgomp-9.so")
      again <- found fixture [] [directory]
      has "problem" "several-runtimes" again
      nothing <- found fixture [] ["/etc"]
      has "note" "no-openmp" nothing,
    testCase "a running process" $
      withDialogue [("CAPSTAN_LIBDIR", fixtureLibrary fixture)] (fixtureCommand fixture) ["run", "--", program fixture "listen"] $ \dialogue -> do
        _ <- expect dialogue "ready "
        pid <- dialoguePid dialogue
        findings <- found fixture [] ["--pid", show pid]
        has "ok" "served" findings
        result <- with fixture [] ["--pid", show pid]
        assertContains (resultOut result) ["Process", show pid, "1 thread", "Capstan", "LD_PRELOAD="],
    testCase "what does not exist" $ do
      program' <- with fixture [] ["no-such-program"]
      resultExit program' @?= ExitFailure 66
      process <- with fixture [] ["--pid", "999999999"]
      resultExit process @?= ExitFailure 66
      nonsense <- with fixture [] ["--pid", "x"]
      resultExit nonsense @?= ExitFailure 64
  ]

with :: Fixture -> [(String, String)] -> [String] -> IO Result
with fixture set arguments = capstanWith usual {setupSet = set} fixture ("doctor" : arguments)

source :: Fixture -> FilePath -> FilePath
source fixture name = fixtureSources fixture </> name

compile :: [String] -> IO ()
compile arguments = runProcess_ (proc "gcc" (["-O1"] <> arguments))

-- | Severity and name of each finding.
found :: Fixture -> [(String, String)] -> [String] -> IO [(Value, Value)]
found fixture set arguments = do
  result <- with fixture set ("--json" : arguments)
  value <- json (resultOut result)
  findings <- field "findings" value
  healthy <- field "healthy" value
  healthy @?= Bool (resultExit result == ExitSuccess)
  case findings of
    Array list -> mapM (\f -> (,) <$> field "severity" f <*> field "name" f) (toList list)
    _ -> assertFailure "findings are a list"

has :: String -> String -> [(Value, Value)] -> Assertion
has severity name findings =
  assertBool (severity <> ": " <> name <> " among " <> show findings) ((string severity, string name) `elem` findings)

lacks :: String -> [(Value, Value)] -> Assertion
lacks name findings =
  assertBool (name <> " among " <> show findings) (string name `notElem` map snd findings)

string :: String -> Value
string = String . T.pack

-- | A program with GCC's entry points, and a program like those of LLVM's compiler, with a runtime
-- for each.
withTwoRuntimes :: Fixture -> IO FilePath
withTwoRuntimes fixture = do
  let directory = fixtureDirectory fixture
      both = directory </> "both"
  writeFile (directory </> "llvm.c") "void __kmpc_fork_call(void) {}\n"
  writeFile (directory </> "both.c") "void __kmpc_fork_call(void);\nint main(void) {\n  __kmpc_fork_call();\n  volatile int ran = 0;\n#pragma omp parallel\n  ran = 1;\n  return !ran;\n}\n"
  compile ["-shared", "-fPIC", directory </> "llvm.c", "-o", directory </> "libomp.so"]
  compile ["-fopenmp", directory </> "both.c", directory </> "libomp.so", "-o", both]
  pure both

withMissingLibrary :: Fixture -> IO FilePath
withMissingLibrary fixture = do
  let directory = fixtureDirectory fixture
      orphan = directory </> "orphan-of-library"
      library = directory </> "libgone.so"
  writeFile (directory </> "gone.c") "int gone(void) { return 0; }\n"
  writeFile (directory </> "orphan.c") "int gone(void);\nint main(void) { return gone(); }\n"
  compile ["-shared", "-fPIC", directory </> "gone.c", "-Wl,-soname,libgone.so", "-o", library]
  compile [directory </> "orphan.c", library, "-o", orphan]
  removeFile library
  pure orphan
