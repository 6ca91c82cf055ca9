-- | Failures that end a command: a message, and an exit code that names the kind of failure.
--
-- @run@ follows env(1) and nohup(1), so the codes 0 to 124 are the program's own. The other
-- subcommands follow sysexits(3).
module Capstan.CLI.Problem
  ( Problem (..),
    throwProblem,
    warn,

    -- * Codes of @run@
    runFailed,
    runCannotExecute,
    runNotFound,

    -- * Codes of the other subcommands
    usageError,
    noInput,
    unavailable,
    cannotCreate,
    outputFailed,
  )
where

import Capstan.Bench.Visible (visible)
import Control.Exception (Exception, throwIO)
import System.Exit (ExitCode (..))
import System.IO (hPutStrLn, stderr)

-- | An exit code and a message for standard error.
data Problem = Problem ExitCode String
  deriving (Show)

instance Exception Problem

-- | Ends the command. @Main@ prints the message, which may contain names from files
-- ("Capstan.Bench.Visible").
throwProblem :: ExitCode -> String -> IO a
throwProblem code message = throwIO (Problem code message)

-- | Writes a warning to standard error.
warn :: String -> IO ()
warn message = hPutStrLn stderr ("capstan: warning: " <> visible message)

-- | 125: the command itself failed, and the program was not started.
runFailed :: ExitCode
runFailed = ExitFailure 125

-- | 126: the program was found but cannot be executed.
runCannotExecute :: ExitCode
runCannotExecute = ExitFailure 126

-- | 127: there is no such program.
runNotFound :: ExitCode
runNotFound = ExitFailure 127

-- | 64: the command line makes no sense.
usageError :: ExitCode
usageError = ExitFailure 64

-- | 66: a file or process named on the command line does not exist.
noInput :: ExitCode
noInput = ExitFailure 66

-- | 69: something that the command needs is missing, such as its libraries.
unavailable :: ExitCode
unavailable = ExitFailure 69

-- | 73: a file cannot be written.
cannotCreate :: ExitCode
cannotCreate = ExitFailure 73

-- | 74: the output cannot be written.
outputFailed :: ExitCode
outputFailed = ExitFailure 74
