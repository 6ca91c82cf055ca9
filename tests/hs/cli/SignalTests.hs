-- | Signals and job control under @capstan run --report@, where the command stands between the
-- program and the process that started it.
module SignalTests (tests) where

import Control.Monad (forM_)
import Fixture
import Interaction
import System.Exit
import System.Posix.Signals
import System.Posix.Types (ProcessID)
import Test.Tasty
import Test.Tasty.HUnit

-- | All tests of signals.
tests :: Fixture -> TestTree
tests fixture =
  testGroup
    "signals"
    [ testCase "sent to the command, each reaches the program once" $
        withListener fixture $ \dialogue command _ -> do
          forM_ common $ \(signal, name) -> do
            signalTo signal command
            nextLine dialogue >>= (@?= name)
          finish dialogue command,
      testCase "a queued signal keeps its value" $
        withListener fixture $ \dialogue command _ -> do
          sent <- execute usual (program fixture "send") [show command, "10", "4711"]
          resultExit sent @?= ExitSuccess
          nextLine dialogue >>= (@?= "USR1 4711")
          finish dialogue command,
      testCase "stopped, the command stops too; continued, both go on" $
        withListener fixture $ \dialogue command listener -> do
          signalTo sigTSTP command
          waitUntil "both are stopped" ((== "TT") <$> mapM processState [listener, command])
          signalTo sigCONT command
          nextLine dialogue >>= (@?= "CONT")
          waitUntil "both go on" ((== "SS") <$> mapM processState [listener, command])
          finish dialogue command,
      testCase "the program stopped by SIGSTOP stops the command" $
        withListener fixture $ \dialogue command listener -> do
          signalTo sigSTOP listener
          waitUntil "the command is stopped" ((== 'T') <$> processState command)
          signalTo sigCONT command
          nextLine dialogue >>= (@?= "CONT")
          waitUntil "both go on" ((== "SS") <$> mapM processState [listener, command])
          finish dialogue command,
      testCase "killing the command kills the program" $
        withListener fixture $ \dialogue command listener -> do
          signalTo sigKILL command
          code <- ending dialogue
          code @?= ExitFailure (-9)
          waitUntil "the program is gone" ((`elem` "XZ") <$> processState listener),
      testCase "keys on a terminal come once" $
        onTerminal fixture ["sh", "-c", "stty -echo; exec \"$@\"", "sh", fixtureCommand fixture, "run", "--report=/dev/null", "--", program fixture "listen"] $ \dialogue -> do
          listener <- read <$> expect dialogue "ready " :: IO ProcessID
          send dialogue "\ETX"
          nextLine dialogue >>= (@?= "INT")
          send dialogue "\FS"
          nextLine dialogue >>= (@?= "QUIT")
          finish dialogue listener,
      testCase "^C ends an ordinary program, and the shell sees why" $
        onTerminal fixture ["sh"] $ \dialogue -> do
          send dialogue (fixtureCommand fixture <> " run --report -- " <> program fixture "wait" <> "\n")
          _ <- expect dialogue "begun"
          send dialogue "\ETX"
          _ <- expect dialogue "wall"
          send dialogue "echo \"code\" $?\n"
          rest <- expect dialogue "code "
          rest @?= "130",
      testCase "^Z, fg and ^C in a shell with job control" $
        onTerminal fixture ["sh", "-i"] $ \dialogue -> do
          send dialogue (fixtureCommand fixture <> " run --report -- " <> program fixture "listen" <> "\n")
          listener <- read <$> expect dialogue "ready " :: IO ProcessID
          send dialogue "\SUB"
          waitUntil "it is stopped" ((== 'T') <$> processState listener)
          send dialogue "echo \"shell\" answers\n"
          _ <- expect dialogue "shell answers"
          send dialogue "fg\n"
          _ <- expect dialogue "CONT"
          send dialogue "\ETX"
          _ <- expect dialogue "INT"
          signalTo sigTERM listener
          _ <- expect dialogue "TERM"
          signalTo sigTERM listener
          _ <- expect dialogue "capstan: "
          send dialogue "echo \"code\" $?\n"
          rest <- expect dialogue "code "
          rest @?= "42",
      testCase "a hang-up of the terminal reaches the program" $
        onTerminal fixture [fixtureCommand fixture, "run", "--report=/dev/null", "--", program fixture "listen"] $ \dialogue -> do
          listener <- read <$> expect dialogue "ready " :: IO ProcessID
          terminal <- dialoguePid dialogue
          signalTo sigKILL terminal
          waitUntil "it took the signal and is hung up on" ((`elem` "XZ") <$> processState listener)
    ]
  where
    common = [(sigHUP, "HUP"), (sigINT, "INT"), (sigQUIT, "QUIT"), (sigUSR1, "USR1"), (sigUSR2, "USR2"), (sigALRM, "ALRM"), (sigPIPE, "PIPE"), (28, "WINCH"), (sigURG, "URG")]

-- The listener ends at the second SIGTERM.
finish :: Dialogue -> ProcessID -> IO ()
finish dialogue pid = do
  signalTo sigTERM pid
  nextLine dialogue >>= (@?= "TERM")
  signalTo sigTERM pid
  nextLine dialogue >>= (@?= "TERM")
  code <- ending dialogue
  code @?= ExitFailure 42

-- Runs the program that reports its signals under the command, and passes on both process numbers.
withListener :: Fixture -> (Dialogue -> ProcessID -> ProcessID -> IO a) -> IO a
withListener fixture action =
  withDialogue
    [("CAPSTAN_LIBDIR", fixtureLibrary fixture)]
    (fixtureCommand fixture)
    ["run", "--report=/dev/null", "--", program fixture "listen"]
    $ \dialogue -> do
      listener <- read <$> expect dialogue "ready "
      command <- dialoguePid dialogue
      action dialogue command listener

onTerminal :: Fixture -> [String] -> (Dialogue -> IO a) -> IO a
onTerminal fixture = withDialogue [("CAPSTAN_LIBDIR", fixtureLibrary fixture), ("PS1", "$ "), ("TERM", "dumb")] (program fixture "terminal")
