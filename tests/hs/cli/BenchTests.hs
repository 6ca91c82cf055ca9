{-# LANGUAGE OverloadedStrings #-}

-- | @bench@ on an invented source tree: programs with known figures, and results that were saved
-- before.
module BenchTests (tests) where

import Control.Monad (forM_)
import Data.Aeson (Value (..), encodeFile, object, (.=))
import Data.Aeson.Types (Pair)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.List (nub)
import Data.Text (Text)
import Fixture
import System.Directory
import System.Exit
import System.FilePath ((</>))
import System.Posix.Files (setFileMode)
import System.Process.Typed (proc, runProcess_)
import Test.Tasty
import Test.Tasty.HUnit

-- | All tests of @bench@.
tests :: Fixture -> TestTree
tests fixture =
  testGroup
    "bench"
    [ testCase "a required figure that is kept, and one that is not" $ do
        tree <- newTree fixture "judged" [target "parallel" 0.5, target "barrier" 0.5]
        saveResults tree [row "parallel" "libgomp" (around 100), row "parallel" "pthread" (around 40), row "barrier" "libgomp" (around 100), row "barrier" "pthread" (around 60)]
        result <- bench fixture tree ["--saved", "--check", "overhead"]
        resultExit result @?= ExitFailure 1
        assertContains (resultOut result) ["row parallel", "pthread", "0.4", "at most 0.5", "met", "row barrier", "0.6", "SHORT", "1 of 2 met"],
      testCase "all kept: success" $ do
        tree <- newTree fixture "kept" [target "parallel" 0.5]
        saveResults tree [row "parallel" "libgomp" (around 100), row "parallel" "pthread" (around 40)]
        result <- bench fixture tree ["--saved", "--check"]
        resultExit result @?= ExitSuccess,
      testCase "parity is enough inside the noise, where the row says so" $ do
        let rows = [row "parallel" "libgomp" (around 100), row "parallel" "pthread" (map (fmap (+ 0.2)) (reverse (around 100)))]
        strict <- newTree fixture "strict" [target "parallel" 1]
        saveResults strict rows
        short <- bench fixture strict ["--saved", "--check"]
        resultExit short @?= ExitFailure 1
        assertContains (resultOut short) ["SHORT, by less than the noise"]
        lenient <- newTree fixture "lenient" [withNoise (target "parallel" 1)]
        saveResults lenient rows
        met <- bench fixture lenient ["--saved", "--check"]
        resultExit met @?= ExitSuccess
        assertContains (resultOut met) ["met, inside the noise"],
      testCase "the floor, the better peer, a bare figure, so much more" $ do
        tree <-
          newTree
            fixture
            "peers"
            [ other "over the floor" "parallel" ["to" .= ("floor:round-trip" :: Text), "at_most" .= (1.3 :: Double)],
              other "over the better" "parallel" ["to" .= ("best" :: Text), "at_most" .= (0.7 :: Double)],
              other "bare" "parallel" ["at_most" .= (59 :: Double)],
              other "more" "parallel" ["to" .= ("libomp" :: Text), "at_most_more" .= (-20 :: Double)]
            ]
        saveResults tree [row "parallel" "libgomp" (around 100), row "parallel" "libomp" (around 90), row "parallel" "pthread" (around 60)]
        result <- bench fixture tree ["--saved", "--check"]
        assertContains
          (resultOut result)
          ["over the floor", "at most 1.30 x round-trip", "met", "over the better", "at most 0.700 x libomp", "met", "bare", "at most 59.0 ns", "SHORT", "more", "libomp's 90.0 ns", "met", "3 of 4 met"],
      testCase "no more is asked than the same part of what the machine gives" $ do
        tree <-
          newTree
            fixture
            "ceiling"
            [other (name <> " of two") name ["at_least" .= (1.9 :: Double), "ceiling" .= (name <> "-gain")] | name <- ["shared", "wasted", "free"]]
        saveResults tree . concat $
          [ [row "shared" "pthread" (around 1.6), row "shared-gain" "pthread" (around 1.65)],
            [row "wasted" "pthread" (around 1.5), row "wasted-gain" "pthread" (around 1.65)],
            [row "free" "pthread" (around 1.6), row "free-gain" "pthread" (around 2.1)]
          ]
        result <- bench fixture tree ["--saved", "--check"]
        resultExit result @?= ExitFailure 1
        assertContains
          (resultOut result)
          ["shared of two", "at least 0.950 of what 2 sequential programs at once gain (1.65", "it gains 1.6", "met", "wasted of two", "at least 0.950 of what 2 sequential programs at once gain (1.65", "it gains 1.5", "SHORT", "free of two", "at least 1.90", "SHORT", "1 of 3 met"],
      testCase "a figure that was not measured is not met" $ do
        tree <- newTree fixture "missing" [target "parallel" 0.5]
        saveResults tree [row "parallel" "libgomp" (around 100), row "parallel" "pthread" (replicate 10 Nothing)]
        result <- bench fixture tree ["--saved", "--check"]
        resultExit result @?= ExitFailure 1
        assertContains (resultOut result) ["not measured"],
      testCase "what changed, and what only seems to" $ do
        tree <- newTree fixture "compared" []
        saveResults tree [row "parallel" "pthread" (around 100), row "barrier" "pthread" (around 100)]
        copyFile (tree </> "build/bench/overhead.json") (tree </> "old.json")
        saveResults tree [row "parallel" "pthread" (around 150), row "barrier" "pthread" (reverse (around 101))]
        result <- bench fixture tree ["--saved", "--compare", tree </> "old.json", "overhead"]
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["parallel", "1.5", "more", "1 other rows: no difference shown"]
        assertLacks (resultOut result) "barrier",
      testCase "a page that needs nothing from elsewhere" $ do
        tree <- newTree fixture "page" [target "parallel" 0.5]
        saveResults tree [row "parallel" "libgomp" (around 100), row "parallel" "pthread" (around 40)]
        _ <- bench fixture tree ["--saved", "--check"]
        page <- B.readFile (tree </> "build/bench/report.html")
        assertContains page ["<!DOCTYPE html>", "<style>", "row parallel", "<svg", "libgomp"]
        forM_ ["http:", "https:", "<script", "src=", "url("] (assertLacks page),
      testCase "fresh processes, interleaved, with a clean environment" $ do
        tree <- newTree fixture "measured" []
        let logFile = tree </> "log"
        result <- benchWith [("BENCH_TEST_LOG", logFile), ("OMP_NUM_THREADS", "7")] fixture tree ["overhead", "--rounds", "3", "--threads", "2"]
        resultExit result @?= ExitSuccess
        order <- readFile logFile
        words order @?= concat (replicate 3 ["A2", "B2"])
        assertContains (resultOut result) ["parallel", "libgomp", "100 ns", "libomp", "200 ns"]
        saved <- B.readFile (tree </> "build/bench/overhead.json") >>= json
        field "rounds" saved >>= (@?= Number 3)
        rows <- field "rows" saved
        case rows of
          Array list -> length list @?= 4
          _ -> assertFailure "rows is not a list",
      testCase "no verdict from too few rounds" $ do
        tree <- newTree fixture "few" []
        saveResults tree [row "parallel" "pthread" (take 4 (around 100))]
        copyFile (tree </> "build/bench/overhead.json") (tree </> "old.json")
        saveResults tree [row "parallel" "pthread" (take 4 (around 200))]
        result <- bench fixture tree ["--saved", "--compare", tree </> "old.json", "overhead"]
        assertContains (resultOut result) ["No difference shown in any of 1 rows"],
      testCase "results that others wrote: deep brackets, no measurement, control characters" $ do
        tree <- newTree fixture "hostile" []
        saveResults tree [row "parallel" "pthread" (around 100)]
        let old = tree </> "old.json"
            compared = bench fixture tree ["--saved", "--compare", old, "overhead"]
        forM_ [C.replicate 5000000 '[', C.concat (replicate 1000000 (C.pack "{\"a\":"))] $ \text -> do
          B.writeFile old text
          deep <- compared
          resultExit deep @?= ExitFailure 66
          assertContains (resultErr deep) ["old.json", "nested more than 64 deep"]
        saved <- B.readFile (tree </> "build/bench/overhead.json")
        let (before, after) = B.breakSubstring (C.pack "2026-01-01") saved
        B.writeFile old (before <> C.pack "\\u001b[31m" <> after)
        result <- compared
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["\\x1b[31m2026-01-01"]
        assertLacks (resultOut result) "\ESC",
      testCase "suites that are not there" $ do
        tree <- newTree fixture "unknown" [targetOf "later" "x" "parallel" ["at_most" .= (1 :: Double)]]
        nonsense <- bench fixture tree ["nonsense"]
        resultExit nonsense @?= ExitFailure 64
        later <- bench fixture tree ["later"]
        resultExit later @?= ExitFailure 69,
      testCase "a suite whose programs are not built is left out, unless it was asked for" $ do
        tree <- newTree fixture "unbuilt" [target "parallel" 0.5, targetOf "nested" "x" "inner" ["at_most" .= (1 :: Double)]]
        result <- bench fixture tree ["--rounds", "1", "--threads", "2"]
        resultExit result @?= ExitSuccess
        assertContains (resultErr result) ["the suite nested is not built (nested); it is left out", "the suite ffi has no program with these cases, team sizes and runtimes; it is left out"]
        assertContains (resultOut result) ["parallel", "libgomp"]
        forM_ [["nested"], ["overhead", "nested"], ["--check"]] $ \arguments -> do
          refused <- bench fixture tree (arguments <> ["--rounds", "1", "--threads", "2"])
          resultExit refused @?= ExitFailure 69
          assertContains (resultErr refused) ["the suite nested is not built (nested): make bench-programs"]
          resultOut refused @?= "",
      testCase "what makes no sense is told before anything is measured" $ do
        tree <- newTree fixture "senseless" [target "parallel" 0.5]
        saveResults tree [row "parallel" "pthread" (around 100)]
        copyFile (tree </> "build/bench/overhead.json") (tree </> "old.json")
        writeFile (tree </> "broken.json") "{"
        let logFile = tree </> "log"
            refused code said arguments = do
              result <- benchWith [("BENCH_TEST_LOG", logFile)] fixture tree arguments
              resultExit result @?= ExitFailure code
              assertContains (resultErr result) said
              measured <- doesFileExist logFile
              assertBool (unwords arguments <> " measured something") (not measured)
        refused 64 ["at least 1"] ["overhead", "--rounds", "0"]
        refused 64 ["at least 1"] ["overhead", "--samples", "-3"]
        refused 64 ["at least 1"] ["overhead", "--microseconds", "0"]
        refused 64 ["at least 1"] ["overhead", "--limit", "x"]
        refused 64 ["from 1", "2,0"] ["overhead", "--threads", "2,0"]
        refused 64 ["no runtime", "rst", "libomp"] ["overhead", "--runtimes", "libgomp,rst"]
        refused 64 ["of its own"] ["--simulate", "--check"]
        refused 64 ["no required figures"] ["--check", "tasks"]
        refused 64 ["of the suite overhead"] ["--compare", tree </> "old.json", "tasks"]
        refused 66 ["there is no", "none.json"] ["--compare", tree </> "none.json", "overhead"]
        refused 66 ["broken.json"] ["--compare", tree </> "broken.json", "overhead"],
      testCase "results that are not there are not kept figures" $ do
        tree <- newTree fixture "unsaved" [target "parallel" 0.5]
        forM_ [["--check"], ["overhead"], ["--check", "overhead"], ["--simulate"]] $ \arguments -> do
          result <- bench fixture tree ("--saved" : arguments)
          resultExit result @?= ExitFailure 66
          assertContains (resultErr result) ["saved"],
      testCase "saved results are shown as measured ones are" $ do
        tree <- newTree fixture "shown" []
        saveResults tree [row "parallel" "libgomp" (around 100), row "parallel" "pthread" (around 40)]
        result <- bench fixture tree ["--saved"]
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["overhead", "parallel", "libgomp", "100 ns", "pthread", "40.0 ns", "0.4", "less"],
      testCase "an old run says which suite is measured" $ do
        tree <- newTree fixture "old" []
        saveResults tree [row "parallel" "libgomp" (around 200)]
        copyFile (tree </> "build/bench/overhead.json") (tree </> "old.json")
        result <- bench fixture tree ["--compare", tree </> "old.json", "--rounds", "5", "--threads", "2"]
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["Since 2026-01-01", "parallel", "libgomp", "200 ns", "100 ns", "less"],
      testCase "what a way to wait gains: a case with it on and off" $ do
        tree <- newTree fixture "waiting" []
        saveSuite
          tree
          "waiting"
          [ row "fork-join spin:on" "pthread" (around 100),
            row "fork-join spin:off" "pthread" (around 400),
            row "first giveway:on,newcomer:on" "pthread" (around 300),
            row "first giveway:off,newcomer:off" "pthread" (around 100),
            row "barrier yield:on" "pthread" (around 100),
            row "alone wake:off" "pthread" (around 100)
          ]
        result <- bench fixture tree ["--saved", "waiting"]
        resultExit result @?= ExitSuccess
        let shown = [C.words line | line <- C.lines (resultOut result), "pthread" `elem` C.words line]
        map (take 4) shown @?= [["spin", "fork-join", "2", "pthread"], ["giveway,", "newcomer", "first", "2"]]
        assertContains (resultOut result) ["100 ns", "400 ns", "4.00 (", "gains", "300 ns", "0.333 (", "loses"],
      testCase "a case is measured under the switches that can act in it" $ do
        tree <- newWaitingTree fixture "switches"
        result <- bench fixture tree ["waiting", "--case", "barrier", "--rounds", "1", "--threads", "2", "--runtimes", "pthread"]
        resultExit result @?= ExitSuccess
        let shown = [C.unwords (takeWhile (/= "2") (C.words line)) | line <- C.lines (resultOut result), "pthread" `elem` C.words line]
        nub (map (C.unwords . filter (`notElem` ["parallel", "barrier"]) . C.words) shown)
          @?= ["spin", "yield", "costs", "rivals", "apart", "giveway", "newcomer", "giveway, newcomer", "wake", "forks"],
      testCase "only the named cases are judged" $ do
        tree <- newTree fixture "cases" [target "parallel" 0.5, target "barrier" 0.5]
        saveResults tree [row "parallel" "libgomp" (around 100), row "parallel" "pthread" (around 40)]
        none <- bench fixture tree ["--saved", "--check", "--case", "par-"]
        resultExit none @?= ExitFailure 64
        named <- bench fixture tree ["--saved", "--check", "--case", "parallel"]
        resultExit named @?= ExitSuccess
        assertContains (resultOut named) ["row parallel", "1 of 1 met"]
        assertLacks (resultOut named) "row barrier",
      testCase "a run that measured nothing keeps what there was" $ do
        tree <- newTree fixture "nothing" []
        saveResults tree [row "parallel" "libgomp" (around 100)]
        before <- B.readFile (tree </> "build/bench/overhead.json")
        result <- bench fixture tree ["overhead", "--rounds", "1", "--threads", "2", "--case", "nonsense"]
        resultExit result @?= ExitFailure 66
        assertContains (resultErr result) ["suite overhead has such a case", "cases: parallel, barrier; team sizes: 1, ", "; runtimes: ", "libomp", "pthread"]
        assertLacks (resultErr result) "processes"
        kept <- B.readFile (tree </> "build/bench/overhead.json")
        kept @?= before,
      testCase "a case that no program has under the named runtime" $ do
        tree <- newWaitingTree fixture "elsewhere"
        result <- bench fixture tree ["waiting", "--case", "fork-join", "--runtimes", "rts"]
        resultExit result @?= ExitFailure 66
        assertContains (resultErr result) ["parallel (pthread)", "green-8 (rts)", "runtimes: ", "pthread", "rts"]
        assertLacks (resultErr result) "processes",
      testCase "an interrupted run keeps what was measured" $ do
        (tree, result) <- interrupted fixture "interrupted" []
        keepsSevenOfTen tree result
        again <- bench fixture tree ["--saved", "overhead"]
        assertContains (resultOut again) ["interrupted after 7 of 10 processes"],
      testCase "two signals within half a second are one, as timeout(1) sends two" $ do
        (tree, result) <- interrupted fixture "twice" [("BENCH_TEST_AGAIN", "0")]
        keepsSevenOfTen tree result
        length (filter (C.isInfixOf (C.pack "the running process")) (C.lines (resultErr result))) @?= 1,
      testCase "a later second signal ends the command at once" $ do
        (tree, result) <- interrupted fixture "again" [("BENCH_TEST_AGAIN", "700")]
        resultExit result @?= ExitFailure (-15)
        assertContains (resultErr result) ["the running process is the last one"]
        resultOut result @?= B.empty
        saved <- doesFileExist (tree </> "build/bench/overhead.json")
        assertBool "results were saved" (not saved),
      testCase "a broken file of another suite does not cost the page" $ do
        tree <- newTree fixture "beside" []
        saveResults tree [row "parallel" "libgomp" (around 100)]
        writeFile (tree </> "build/bench/tasks.json") "{"
        result <- bench fixture tree ["--saved", "overhead"]
        resultExit result @?= ExitSuccess
        assertContains (resultErr result) ["tasks.json", "left out"]
        page <- B.readFile (tree </> "build/bench/report.html")
        assertContains page ["overhead", "parallel"]
    ]

-- | A run of ten processes whose fourth one interrupts the command, and the tree of the run.
interrupted :: Fixture -> String -> [(String, String)] -> IO (FilePath, Result)
interrupted fixture name more = do
  tree <- newTree fixture name []
  let set = [("BENCH_TEST_LOG", tree </> "log"), ("BENCH_TEST_INTERRUPT", "4")] <> more
  result <- benchWith set fixture tree ["overhead", "--rounds", "5", "--threads", "2", "--runtimes", "libgomp"]
  pure (tree, result)

-- | The seven processes before the signal are shown and saved: three of the suite, four of the floor.
keepsSevenOfTen :: FilePath -> Result -> IO ()
keepsSevenOfTen tree result = do
  resultExit result @?= ExitFailure (-15)
  assertContains (resultErr result) ["the running process is the last one"]
  assertContains (resultOut result) ["interrupted after 7 of 10 processes", "4 rounds", "parallel"]
  saved <- readFile (tree </> "build/bench/overhead.json") >>= json . C.pack
  rounds <- field "rounds" saved
  rounds @?= Number 4

-- | Ten values within two percent of x.
around :: Double -> [Maybe Double]
around x = [Just (x * (1 + 0.002 * d)) | d <- [-9, 3, -5, 7, -1, 1, 5, -7, 9, -3]]

-- | A target of the suite @overhead@: a ratio to libgomp.
target :: Text -> Double -> [Pair]
target name bound = other ("row " <> name) name ["to" .= ("libgomp" :: Text), "at_most" .= bound]

other :: Text -> Text -> [Pair] -> [Pair]
other = targetOf "overhead"

targetOf :: Text -> Text -> Text -> [Pair] -> [Pair]
targetOf suite title name rest =
  ["suite" .= suite, "row" .= title, "case" .= name, "threads" .= (2 :: Int), "reason" .= ("a test" :: Text)] <> rest

withNoise :: [Pair] -> [Pair]
withNoise = (("noise" .= True) :)

row :: Text -> Text -> [Maybe Double] -> Value
row name runtime values =
  object ["suite" .= ("overhead" :: Text), "case" .= name, "runtime" .= runtime, "threads" .= (2 :: Int), "unit" .= ("ns" :: Text), "values" .= values]

-- | A source tree with these targets and programs.
newTree :: Fixture -> String -> [[Pair]] -> IO FilePath
newTree fixture name targets = do
  let tree = fixtureDirectory fixture </> "bench-" <> name
      programs = tree </> "build/bench/bin"
      runtimes = [tree </> "build/bench" </> runtime | runtime <- ["libgomp", "libomp"]]
  mapM_ (createDirectoryIfMissing True) ([tree </> "bench", programs] <> runtimes)
  encodeFile (tree </> "bench/targets.json") (object ["targets" .= map object targets])
  let compiled = programs </> "overhead"
  runProcess_ (proc "gcc" ["-fopenmp", fixtureSources fixture </> "measured.c", "-o", compiled])
  copyFile compiled (programs </> "floor")
  library <- execute usual "gcc" ["-print-file-name=libgomp.so.1"]
  mapM_ (createFileLink (C.unpack (C.strip (resultOut library))) . (</> "libgomp.so.1")) runtimes
  pure tree

-- | A source tree with the programs of the suite @waiting@, and a Capstan that says that it serves
-- as it was told.
newWaitingTree :: Fixture -> String -> IO FilePath
newWaitingTree fixture name = do
  tree <- newTree fixture name []
  forM_ ["waiting", "host-capstan"] $ \program ->
    copyFile (tree </> "build/bench/bin/overhead") (tree </> "build/bench/bin" </> program)
  createDirectoryIfMissing True (tree </> "build/lib")
  copyFile (tree </> "build/bench/libgomp/libgomp.so.1") (tree </> "build/lib/libgomp.so.1")
  let child = tree </> "build/bench/bin/startup-child"
  writeFile child "#!/bin/sh\nprintf '{\"substrate\":\"%s\"}\\n' \"$CAPSTAN_SUBSTRATE\" >&3\n"
  setFileMode child 0o755
  pure tree

-- | Saves results of the suite @overhead@, as if they were measured.
saveResults :: FilePath -> [Value] -> IO ()
saveResults tree = saveSuite tree "overhead"

-- | Saves results of any suite; the floor is a round trip of 50 ns.
saveSuite :: FilePath -> FilePath -> [Value] -> IO ()
saveSuite tree suite rows =
  encodeFile (tree </> "build/bench" </> suite <> ".json") $
    object
      [ "suite" .= suite,
        "date" .= ("2026-01-01 00:00" :: Text),
        "rounds" .= (10 :: Int),
        "machine" .= object ["processor" .= ("a test" :: Text), "cores" .= (2 :: Int), "kernel" .= ("0" :: Text)],
        "runtimes" .= [object ["runtime" .= name, "library" .= ("x" :: Text)] | name <- ["libgomp", "libomp", "pthread" :: Text]],
        "floor" .= [object ["suite" .= ("floor" :: Text), "case" .= ("round-trip" :: Text), "runtime" .= ("machine" :: Text), "threads" .= (2 :: Int), "unit" .= ("ns" :: Text), "values" .= replicate 10 (50 :: Double)]],
        "rows" .= rows,
        "failures" .= ([] :: [Value])
      ]

bench :: Fixture -> FilePath -> [String] -> IO Result
bench = benchWith []

-- | Starts the command in the tree, which it then uses.
benchWith :: [(String, String)] -> Fixture -> FilePath -> [String] -> IO Result
benchWith set fixture tree arguments =
  execute usual {setupSet = set} "sh" (["-c", "cd \"$0\" && exec \"$@\"", tree, fixtureCommand fixture, "bench"] <> arguments)
