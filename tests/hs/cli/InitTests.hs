-- | @capstan init@: the files that it writes, and its refusals. The script
-- @tests/house/init_program.sh@ tests that the program builds and runs.
module InitTests (tests) where

import qualified Data.ByteString.Char8 as C
import Fixture
import System.Directory (createDirectoryIfMissing, doesPathExist)
import System.Exit
import System.FilePath ((</>))
import Test.Tasty
import Test.Tasty.HUnit

-- | All tests of @init@.
tests :: Fixture -> TestTree
tests fixture =
  testGroup
    "init"
    [ testCase "a project of that name" $ do
        result <- inside "new" "hello-2nd"
        resultErr result @?= C.empty
        resultExit result @?= ExitSuccess
        assertContains (resultOut result) ["hello-2nd/hello-2nd.cabal", "cabal run hello-2nd"]
        package <- C.readFile (place "new" </> "hello-2nd/hello-2nd.cabal")
        assertContains package ["-threaded", "-with-rtsopts=-N", "capstan", "-fopenmp", "executable hello-2nd"]
        project <- C.readFile (place "new" </> "hello-2nd/cabal.project")
        project @?= C.pack "packages: .\n",
      testCase "a source that has a configuration for cabal" $ do
        createDirectoryIfMissing True (place "offline" </> "from/tools")
        mapM_ (\file -> C.writeFile (place "offline" </> "from" </> file) C.empty) ["capstan.cabal", "tools/cabal.config"]
        result <- inside "offline" "hello --source from"
        assertContains (resultOut result) ["export CABAL_CONFIG=", "/from/tools/cabal.config"]
        without <- inside "offline" "alone"
        assertBool "a configuration without a source" (not (C.pack "CABAL_CONFIG" `C.isInfixOf` resultOut without)),
      testCase "what is there stays" $ do
        createDirectoryIfMissing True (place "old" </> "hello")
        result <- inside "old" "hello"
        resultExit result @?= ExitFailure 73
        assertContains (resultErr result) ["\"hello\" is there already"]
        doesPathExist (place "old" </> "hello/hello.cabal") >>= (@?= False),
      testCase "names that are no package's" . mapM_ refused $
        ["''", "2", "a/b", "../a", "a--b", "-- -a", "a_b", "b\955", "'a b'", "capstan", "base"],
      testCase "a source that is none" $ do
        result <- inside "source" "hello --source /usr"
        resultExit result @?= ExitFailure 66
        assertContains (resultErr result) ["\"/usr\" has no capstan.cabal"]
        doesPathExist (place "source" </> "hello") >>= (@?= False),
      testCase "a folder that cannot be written" $ do
        result <- execute usual "sh" ["-c", "cd /proc && " <> fixtureCommand fixture <> " init hello"]
        resultExit result @?= ExitFailure 73
    ]
  where
    place name = fixtureDirectory fixture </> "init-" <> name
    inside name arguments = do
      createDirectoryIfMissing True (place name)
      execute usual "sh" ["-c", "cd " <> place name <> " && " <> fixtureCommand fixture <> " init " <> arguments]
    refused name = do
      result <- inside "names" name
      (name, resultExit result) @?= (name, ExitFailure 64)
