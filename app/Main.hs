-- | The command @capstan@: its subcommands, and the handling of their failures.
module Main (main) where

import Capstan.Bench.Visible (visible)
import qualified Capstan.CLI.Bench as Bench
import qualified Capstan.CLI.Doctor as Doctor
import qualified Capstan.CLI.Env as Env
import Capstan.CLI.Help
import qualified Capstan.CLI.Init as Init
import Capstan.CLI.Problem
import qualified Capstan.CLI.Run as Run
import qualified Capstan.CLI.Top as Top
import Capstan.CLI.Version (version)
import Control.Exception (handle, handleJust, throwIO, try)
import GHC.IO.Encoding (setFileSystemEncoding, setForeignEncoding, setLocaleEncoding)
import GHC.IO.Encoding.Failure (CodingFailureMode (..))
import GHC.IO.Encoding.UTF8 (mkUTF8)
import GHC.IO.Exception (IOException (ioe_description, ioe_handle))
import Options.Applicative
import System.Environment (getArgs)
import System.Exit
import System.IO

-- A new subcommand needs a module that exports its 'Mod', and an entry here.
subcommands :: Mod CommandFields (IO ())
subcommands = Run.subcommand <> Env.subcommand <> Doctor.subcommand <> Bench.subcommand <> Init.subcommand <> Top.subcommand

-- | Parses the command line and runs a subcommand.
main :: IO ()
main = handle failed $ do
  -- Bytes that are not UTF-8 pass through arguments, file names and output
  -- unchanged, whatever the locale; and no conversion tables are loaded.
  setFileSystemEncoding (mkUTF8 RoundtripFailure)
  setLocaleEncoding (mkUTF8 RoundtripFailure)
  -- From GHC 9.10 on, the process library encodes arguments with this.
  setForeignEncoding (mkUTF8 RoundtripFailure)
  arguments <- getArgs
  told $ case execParserPure preferences top arguments of
    Success action' -> action'
    CompletionInvoked completion -> execCompletion completion "capstan" >>= putStr
    Failure failure -> case renderFailure failure "capstan" of
      (text, ExitSuccess) -> putStrLn text
      (text, ExitFailure _) -> do
        hPutStrLn stderr text
        exitWith (if take 1 arguments == ["run"] then runFailed else usageError)
  where
    failed (Problem code message) = do
      hPutStrLn stderr ("capstan: " <> visible message)
      exitWith code

-- | Ends as the subcommand does, once its output is written. GHC's runtime system also flushes
-- standard output, but it does not report a failure, for instance on a full disk.
told :: IO () -> IO ()
told subcommand = handleJust toStandardOutput lost $ do
  ending <- try subcommand
  hFlush stdout
  either throwIO pure (ending :: Either ExitCode ())
  where
    toStandardOutput failure = if ioe_handle failure == Just stdout then Just failure else Nothing
    lost failure = throwProblem outputFailed ("cannot write to standard output: " <> ioe_description failure)

preferences :: ParserPrefs
preferences = prefs (showHelpOnEmpty <> helpLongEquals)

top :: ParserInfo (IO ())
top =
  info (hsubparser subcommands <**> versionOption <**> helper) $
    fullDesc
      <> header "capstan - one scheduler for OpenMP and Haskell"
      <> withExamples
        [ Example "capstan run --report -- convert in.jpg -blur 0x8 out.jpg" "run a program on Capstan, and say what it did",
          Example "capstan doctor convert" "which OpenMP runtimes would it load, and is that well?",
          Example "capstan env" "every setting, its value, and where it came from"
        ]
  where
    versionOption =
      infoOption ("capstan " <> version) (long "version" <> help "Show the version")
