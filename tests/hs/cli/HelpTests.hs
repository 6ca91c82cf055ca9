-- | Help, version and completion.
module HelpTests (tests) where

import Control.Monad (forM_, when)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.Maybe (isJust)
import Fixture
import System.Directory (findExecutable)
import System.Exit
import System.FilePath ((</>))
import Test.Tasty
import Test.Tasty.HUnit

-- | All tests of help, version and completion.
tests :: Fixture -> TestTree
tests fixture =
  testGroup
    "help"
    [ testCase "the version" $ do
        result <- capstan fixture ["--version"]
        resultExit result @?= ExitSuccess
        resultOut result @?= C.pack "capstan 0.1.0\n",
      testCase "help at every level, with examples" . forM_ [[], ["run"], ["env"], ["doctor"], ["bench"], ["init"], ["top"]] $ \level -> do
        result <- capstan fixture (level <> ["--help"])
        resultExit result @?= ExitSuccess
        resultErr result @?= B.empty
        assertContains (resultOut result) [unwords ("Usage: capstan" : level), "Examples:", unwords ("  capstan" : level)],
      testCase "nothing at all: help, but no success" $ do
        result <- capstan fixture []
        resultExit result @?= ExitFailure 64
        assertContains (resultErr result) ["Usage:"],
      testCase "an unknown subcommand, in any locale and alphabet" . forM_ ["C", "C.UTF-8"] $ \locale -> do
        result <- capstanWith usual {setupSet = [("LC_ALL", locale)]} fixture ["nonsense \955\xdcff"]
        resultExit result @?= ExitFailure 64
        -- The library for options shows a byte that is no text as it is up to 0.17, and U+FFFD from 0.18 on.
        let shown = [C.pack ("nonsense \xce\xbb" <> byte) | byte <- ["\xff", "\xef\xbf\xbd"]]
        assertBool (show result) (any (`B.isInfixOf` resultErr result) shown),
      testCase "completion of subcommands, options and values" $ do
        completes ["r"] ["run"]
        completes ["run", "--th"] ["--threads"]
        completes ["run", "--substrate", ""] ["rts", "pthread"]
        completes ["doctor", "--p"] ["--pid"],
      testCase "scripts that their shells accept" $
        forM_ [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] $ \(shell, check) -> do
          script <- capstan fixture ["--" <> shell <> "-completion-script", "/usr/bin/capstan"]
          resultExit script @?= ExitSuccess
          assertContains (resultOut script) ["/usr/bin/capstan"]
          let file = fixtureDirectory fixture </> "completion." <> shell
          B.writeFile file (resultOut script)
          present <- isJust <$> findExecutable shell
          when present $ do
            checked <- execute usual shell [check, file]
            resultExit checked @?= ExitSuccess,
      testCase "bash completes by it" $ do
        script <- capstan fixture ["--bash-completion-script", fixtureCommand fixture]
        let file = fixtureDirectory fixture </> "completion"
        B.writeFile file (resultOut script)
        result <-
          execute usual "bash" ["-c", ". " <> file <> "; COMP_WORDS=(capstan doc); COMP_CWORD=1; $(complete -p capstan | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo \"${COMPREPLY[@]}\""]
        C.words (resultOut result) @?= [C.pack "doctor"]
    ]
  where
    completes typed wanted = do
      let words' = "capstan" : typed
          options = ["--bash-completion-index", show (length typed)] <> concatMap (\w -> ["--bash-completion-word", w]) words'
      result <- capstan fixture options
      let offered = C.lines (resultOut result)
      forM_ wanted $ \w -> assertBool (w <> " among " <> show offered) (C.pack w `elem` offered)
