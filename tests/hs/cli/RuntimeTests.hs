-- | The command with the runtime itself, if it was built.
module RuntimeTests (tests) where

import Control.Monad (forM_)
import Data.Aeson (Value (..))
import qualified Data.ByteString as B
import Data.Foldable (toList)
import qualified Data.Text as T
import Fixture
import Interaction
import System.Exit
import Test.Tasty
import Test.Tasty.HUnit

-- | All tests with a built runtime, or none without it.
tests :: Fixture -> [TestTree]
tests fixture = case fixtureRuntime fixture of
  Nothing -> []
  Just directory -> [testGroup "with the runtime" (cases fixture directory)]

cases :: Fixture -> FilePath -> [TestTree]
cases fixture directory =
  [ testCase "a region on each substrate, and the report of it" . forM_ ["rts", "pthread"] $ \substrate -> do
      result <- with [] ["run", "--json", "--substrate", substrate, "--threads", "2", "--", program fixture "region", "6"]
      resultExit result @?= ExitFailure 6
      value <- json (resultErr result)
      path ["process", "substrate"] value >>= (@?= string substrate)
      path ["process", "regions"] value >>= (@?= Number 1)
      path ["process", "largest_team"] value >>= (@?= Number 2)
      machine <- with [] ["env", "--json"] >>= json . resultOut
      path ["processors", "available"] machine >>= \processors -> path ["process", "processors"] value >>= (@?= processors)
      path ["capstan"] value >>= \version -> path ["process", "capstan"] value >>= (@?= version),
    testCase "no report: nothing on standard error" $ do
      result <- with [] ["run", "--", program fixture "region"]
      resultExit result @?= ExitSuccess
      resultErr result @?= B.empty,
    testCase "a program of AddressSanitizer, which wants to come first" . forM_ ["rts", "pthread"] $ \substrate -> do
      result <- with [] ["run", "--substrate", substrate, "--", program fixture "region-address", "6"]
      resultErr result @?= B.empty
      resultExit result @?= ExitFailure 6,
    testCase "regions of one thread need no substrate" $ do
      result <- with [] ["run", "--report", "--threads", "1", "--", program fixture "region"]
      assertContains (resultErr result) ["none was needed", "regions", "1", "threads", "1, largest team 1"],
    testCase "children report" $ do
      result <- with [] ["run", "--json", "--", "sh", "-c", program fixture "region" <> "; " <> program fixture "region" <> "; :"]
      value <- json (resultErr result)
      path ["total", "regions"] value >>= (@?= Number 2),
    testCase "a descriptor that the program reused is left alone" $ do
      let file = directory' <> "/reused"
      result <- with [] ["run", "--report", "--", "bash", "-c", "exec 1000>&-; exec 1000>" <> file <> "; exec " <> program fixture "region"]
      resultExit result @?= ExitSuccess
      B.readFile file >>= (@?= B.empty),
    testCase "the settings are the runtime's" $ do
      result <- with [("OMP_SCHEDULE", "guided,4"), ("OMP_DYNAMIC", "nonsense")] ["env", "--json"]
      value <- json (resultOut result)
      list <- field "settings" value
      case list of
        Array entries -> do
          settings <- mapM (\e -> (,,) <$> field "name" e <*> field "value" e <*> field "source" e) (toList entries)
          assertBool (show settings) $ (string "OMP_SCHEDULE", string "GUIDED,4", string "environment") `elem` settings
          assertBool (show settings) $ (string "OMP_DYNAMIC", string "FALSE", string "default") `elem` settings
        _ -> assertFailure "settings are a list"
      assertContains (resultOut result) ["Invalid value for environment variable OMP_DYNAMIC"],
    testCase "settings that nothing decides, in the words of their page" $ do
      result <- with [] ["env"]
      forM_ [("OMP_WAIT_POLICY", "undecided"), ("OMP_THREAD_LIMIT", "none"), ("OMP_STACKSIZE", "the limit of the shell"), ("OMP_NUM_TEAMS", "none")] $ \(name, value) ->
        assertContains (resultOut result) ["\n" <> name <> " ", " " <> value <> " ", "default\n"]
      assertLacks (resultOut result) "KMP_",
    testCase "settings that another variable decides" $ do
      result <- with [("KMP_BLOCKTIME", "0"), ("KMP_ALL_THREADS", "3"), ("GOMP_STACKSIZE", "1M")] ["env"]
      assertContains
        (resultOut result)
        [ "OMP_STACKSIZE ",
          " 1048576 ",
          " from GOMP_STACKSIZE\n",
          "OMP_WAIT_POLICY ",
          " PASSIVE ",
          " from KMP_BLOCKTIME\n",
          "OMP_THREAD_LIMIT ",
          " 3 ",
          " from KMP_ALL_THREADS\n",
          "GOMP_SPINCOUNT ",
          " 0 ",
          " from KMP_BLOCKTIME\n",
          "KMP_BLOCKTIME ",
          " 0 ",
          " environment\n",
          "KMP_ALL_THREADS ",
          " 3 ",
          " environment\n"
        ]
      active <- with [("OMP_WAIT_POLICY", "active"), ("KMP_BLOCKTIME", "soon")] ["env"]
      assertContains
        (resultOut active)
        ["OMP_WAIT_POLICY ", " ACTIVE ", " environment\n", "GOMP_SPINCOUNT ", " from OMP_WAIT_POLICY\n", "KMP_BLOCKTIME ", "\"soon\" was refused"],
    testCase "the ways to wait" $ do
      result <- with [("CAPSTAN_WAIT", "turns:off")] ["env"]
      resultExit result @?= ExitSuccess
      assertContains (resultOut result) ["CAPSTAN_WAIT", "spin:on,", "turns:off,", "environment"]
      wrong <- with [("CAPSTAN_WAIT", "turns:of")] ["env"]
      resultExit wrong @?= ExitSuccess
      assertContains (resultOut wrong) ["turns:on,", "\"turns:of\" was refused", "it must be a list such as \"turns:off,spin:on\""],
    testCase "a setting with control characters is shown without them" $ do
      result <- with [("OMP_AFFINITY_FORMAT", "\ESC[31m%n")] ["env"]
      assertContains (resultOut result) ["\\x1b[31m%n"]
      assertLacks (resultOut result) "\ESC",
    testCase "the doctor finds it well" $ do
      result <- with [] ["doctor", "--json", program fixture "region"]
      value <- json (resultOut result)
      field "substrate" value >>= (@?= string "rts")
      field "healthy" value >>= (@?= Bool True)
      resultExit result @?= ExitSuccess,
    testCase "a process with more threads in a region than processors" $
      withDialogue [("CAPSTAN_LIBDIR", directory)] (fixtureCommand fixture) ["run", "--", program fixture "crowd"] $ \dialogue -> do
        _ <- expect dialogue "ready "
        pid <- dialoguePid dialogue
        result <- with [] ["doctor", "--pid", show pid]
        assertContains (resultOut result) ["note", "64 threads are in regions, on ", " processor", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT or OMP_DYNAMIC=true"],
    testCase "the files with the names of other runtimes lead to Capstan" $
      withDialogue [("CAPSTAN_LIBDIR", directory)] (fixtureCommand fixture) ["run", "--", program fixture "listen"] $ \dialogue -> do
        _ <- expect dialogue "ready "
        pid <- dialoguePid dialogue
        result <- with [] ["doctor", "--pid", show pid]
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["names of Capstan, ", "libcapstan-llvm.so", "ok", "Capstan serves it"]
        forM_ ["LLVM libomp", "Intel libiomp5", "threads are in regions"] (assertLacks (resultOut result))
  ]
  where
    with set = capstanWith usual {setupSet = ("CAPSTAN_LIBDIR", directory) : set} fixture
    directory' = fixtureDirectory fixture
    string = String . T.pack
