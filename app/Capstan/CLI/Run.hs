-- | @capstan run@: an unmodified program, served by Capstan.
--
-- Without a report the command becomes the program, so exit code, signals and job control are the
-- program's own. With a report the program is a child, and "Capstan.CLI.Host" passes signals, job
-- control and exit code on.
module Capstan.CLI.Run (subcommand) where

import Capstan.CLI.Elf (Elf (..), isNative, readElf)
import Capstan.CLI.Environment (exportVariables)
import Capstan.CLI.Help
import Capstan.CLI.Host
import Capstan.CLI.Json (putJson)
import Capstan.CLI.Library
import Capstan.CLI.OpenMP (isOpenMPSymbol)
import Capstan.CLI.Problem
import Capstan.CLI.Program
import Capstan.CLI.Report
import Capstan.CLI.Style
import Control.Exception (IOException, try)
import Data.Maybe (fromMaybe, isNothing)
import Foreign.C.Error (Errno (..), eNOENT, errnoToIOError)
import GHC.IO.Exception (ioe_description)
import Options.Applicative hiding (style)
import System.Exit (ExitCode (..), exitSuccess, exitWith)
import System.FilePath (takeFileName)
import System.IO
import System.Posix.Files (stdFileMode)
import System.Posix.IO (FdOption (..), createFile, fdToHandle, setFdOption)
import System.Posix.Types (Fd)

data Destination = StandardError | File FilePath

data Options = Options
  { optionServing :: Serving,
    optionReport :: Maybe Destination,
    optionJson :: Bool,
    optionCommand :: [String]
  }

-- | The subcommand.
subcommand :: Mod CommandFields (IO ())
subcommand =
  command "run" . info (run <$> options) $
    progDesc "Run an unmodified OpenMP program on Capstan"
      <> noIntersperse
      <> withExamples
        [ Example "capstan run -- convert in.jpg -resize 50% out.jpg" "ImageMagick on GHC's Capabilities",
          Example "capstan run --threads 4 --report -- primecount 1e13" "four threads, and what they did on standard error",
          Example "capstan run --report=run.json --json -- python3 train.py" "the report to a file, for another program",
          Example "capstan run --substrate pthread -- ./a.out" "plain threads, no Haskell in the process"
        ]

options :: Parser Options
options =
  Options
    <$> servingOptions
    <*> optional
      ( flag' StandardError (long "report" <> short 'r' <> help "Say afterwards, on standard error, what the runtime did")
          <|> File
            <$> strOption (long "report" <> metavar "FILE" <> action "file" <> help "The same, written to FILE")
      )
    <*> jsonSwitch "The report as JSON (implies --report)"
    <*> ( (:)
            <$> strArgument (metavar "PROGRAM" <> action "command" <> help "The program to run, found as a shell finds it")
            <*> many (strArgument (metavar "ARGS..." <> action "file" <> help "Its arguments, passed on untouched"))
        )

run :: Options -> IO ()
run chosen = do
  library <- findLibrary runFailed
  environment <- servingInputs
  variables <- servingEnvironment library (optionServing chosen) environment >>= either (throwProblem runFailed) pure
  exportVariables variables
  privilege <- examinePrivilege name
  case privilege of
    Just how -> warn (name <> " is " <> how <> ": the loader ignores LD_PRELOAD there, so Capstan cannot serve it")
    Nothing -> pure ()
  case optionReport chosen of
    Nothing | not (optionJson chosen) -> become (optionCommand chosen) >>= cannotRun name
    destination -> reported chosen (fromMaybe StandardError destination) privilege
  where
    name = concat (take 1 (optionCommand chosen))

examinePrivilege :: String -> IO (Maybe String)
examinePrivilege name = do
  found <- findProgram name
  case found of
    Found file -> fmap privilegeText <$> privilegeOf file
    _ -> pure Nothing

-- The program could not be started: report the reason as env(1) does.
cannotRun :: String -> Errno -> IO a
cannotRun name errno = do
  found <- findProgram name
  let text = ioe_description (errnoToIOError "" errno Nothing Nothing)
      why = case found of
        Found file | errno == eNOENT -> file <> " is there, but the interpreter or loader that it names is not"
        _ -> text
  throwProblem (if errno == eNOENT then runNotFound else runCannotExecute) ("cannot run " <> name <> ": " <> why)

reported :: Options -> Destination -> Maybe String -> IO ()
reported chosen destination privilege = do
  handle <- openDestination destination
  descriptor <- anonymousFile "capstan-report"
  nameOf descriptor >>= \n -> exportVariables [("CAPSTAN_REPORT", n)]
  hFlush stdout
  result <- supervise (optionCommand chosen)
  outcome <- either (cannotRun name) pure result
  reports <- parseReports <$> readWritten descriptor
  silence <- case privilege of
    Just how -> pure (Untrusting how)
    Nothing
      | any ((== outcomePid outcome) . reportPid) reports -> pure Abrupt
      | otherwise -> examineSilence name
  style <- styleFor handle
  let summary =
        Summary
          { summaryCommand = optionCommand chosen,
            summaryOutcome = outcome,
            summarySilence = silence,
            summaryReports = reports
          }
  -- If the report's reader has gone, the command still returns the program's exit code.
  written <- try (writeSummary chosen handle style summary) :: IO (Either IOException ())
  case (written, destination) of
    (Left failure, File _) -> warn ("the report could not be written: " <> show failure)
    _ -> pure ()
  endAs (outcomeEnding outcome)
  where
    name = concat (take 1 (optionCommand chosen))

openDestination :: Destination -> IO Handle
openDestination destination = case destination of
  StandardError -> pure stderr
  File path -> do
    opened <- try (createFile path stdFileMode) :: IO (Either IOException Fd)
    case opened of
      Left failure -> throwProblem runFailed ("cannot write the report to " <> path <> ": " <> ioe_description failure)
      Right fd -> do
        setFdOption fd CloseOnExec True
        fdToHandle fd

writeSummary :: Options -> Handle -> Style -> Summary -> IO ()
writeSummary chosen handle style summary = do
  if optionJson chosen
    then putJson handle (summaryJson summary)
    else hPutStr handle (summaryText style summary)
  hFlush handle

-- The reason why the program did not report.
examineSilence :: String -> IO Silence
examineSilence name = do
  self <- ownExecutable >>= maybe (pure Nothing) (readElf isOpenMPSymbol)
  found <- findProgram name
  examined <- case found of
    Found file -> examine file
    _ -> pure (Left "")
  pure $ case (programImage <$> examined, self) of
    (Right (ElfImage elf), Just own)
      | not (isNative own elf) -> Foreign
      | isNothing (elfInterpreter elf) -> Static
      | fmap takeLoader (elfInterpreter elf) /= fmap takeLoader (elfInterpreter own) -> Foreign
    _ -> Abrupt
  where
    takeLoader = takeFileName

endAs :: Ending -> IO ()
endAs ending = case ending of
  Exited 0 -> exitSuccess
  Exited code -> exitWith (ExitFailure code)
  Killed signal -> dieBySignal signal
