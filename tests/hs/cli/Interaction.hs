-- | Talking to a process while it runs.
module Interaction
  ( Dialogue,
    withDialogue,
    dialoguePid,
    expect,
    nextLine,
    send,
    ending,
    signalTo,
    waitUntil,
    processState,
  )
where

import Control.Concurrent (threadDelay)
import Control.Exception (IOException, bracket, try)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.IORef
import Fixture (environmentWith)
import System.Exit (ExitCode)
import System.IO
import System.Posix.Signals (Signal, sigKILL, signalProcess)
import System.Posix.Types (ProcessID)
import System.Process
import System.Timeout (timeout)
import Test.Tasty.HUnit (assertFailure)

-- | A process, and its output that was not yet read.
data Dialogue = Dialogue
  { dialogueProcess :: ProcessHandle,
    dialogueInput :: Handle,
    dialogueOutput :: Handle,
    dialogueUnread :: IORef B.ByteString
  }

-- | Starts a program whose input and output the test controls, and kills it in the end.
withDialogue :: [(String, String)] -> FilePath -> [String] -> (Dialogue -> IO a) -> IO a
withDialogue set file arguments = bracket start stop
  where
    start = do
      environment <- environmentWith set
      unread <- newIORef B.empty
      (input, output, _, process) <-
        -- The process has its own group, below that of the test, as SIGTSTP stops no process in an
        -- orphaned group.
        createProcess (proc file arguments) {env = Just environment, std_in = CreatePipe, std_out = CreatePipe, create_group = True}
      case (input, output) of
        (Just i, Just o) -> Dialogue process i o unread <$ hSetBuffering i NoBuffering
        _ -> assertFailure "pipes were asked for"
    stop dialogue = do
      -- SIGKILL, as some of these programs survive a SIGTERM.
      getPid (dialogueProcess dialogue) >>= mapM_ (signalProcess sigKILL)
      hClose (dialogueInput dialogue)
      hClose (dialogueOutput dialogue)
      waitForProcess (dialogueProcess dialogue)

-- | The process number of the program.
dialoguePid :: Dialogue -> IO ProcessID
dialoguePid dialogue = getPid (dialogueProcess dialogue) >>= maybe (assertFailure "it has ended") pure

-- | Waits for a text, and returns the rest of its line.
expect :: Dialogue -> String -> IO String
expect dialogue text = do
  found <- timeout 20000000 go
  unread <- readIORef (dialogueUnread dialogue)
  maybe (assertFailure ("no " <> show text <> " came, but " <> show unread)) pure found
  where
    wanted = C.pack text
    go = do
      unread <- readIORef (dialogueUnread dialogue)
      let (_, found) = B.breakSubstring wanted unread
          (line, rest) = C.break (== '\n') (B.drop (B.length wanted) found)
      if not (B.null found) && not (B.null rest)
        then C.unpack (C.filter (/= '\r') line) <$ writeIORef (dialogueUnread dialogue) (B.drop 1 rest)
        else do
          more <- B.hGetSome (dialogueOutput dialogue) 4096
          if B.null more
            then assertFailure ("it ended without " <> show text <> ": " <> show unread)
            else modifyIORef (dialogueUnread dialogue) (<> more) >> go

-- | The next line, whatever it is.
nextLine :: Dialogue -> IO String
nextLine dialogue = expect dialogue ""

-- | Types something.
send :: Dialogue -> String -> IO ()
send dialogue text = B.hPut (dialogueInput dialogue) (C.pack text)

-- | Waits for the end of the program, and returns its exit code.
ending :: Dialogue -> IO ExitCode
ending dialogue = do
  code <- timeout 20000000 (waitForProcess (dialogueProcess dialogue))
  maybe (assertFailure "it does not end") pure code

-- | Sends a signal to one process.
signalTo :: Signal -> ProcessID -> IO ()
signalTo = signalProcess

-- | Waits until the condition holds.
waitUntil :: String -> IO Bool -> IO ()
waitUntil what condition = do
  done <- timeout 20000000 loop
  maybe (assertFailure ("not so: " <> what)) pure done
  where
    loop = do
      yes <- condition
      if yes then pure () else threadDelay 5000 >> loop

-- | The letter of a process's state; @X@ if the process does not exist.
processState :: ProcessID -> IO Char
processState pid = do
  read' <- try (B.readFile ("/proc/" <> show pid <> "/stat")) :: IO (Either IOException B.ByteString)
  pure $ case C.words . snd . C.breakEnd (== ')') <$> read' of
    Right (state : _) -> C.head state
    _ -> 'X'
