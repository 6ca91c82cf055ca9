-- | @capstan top@ shows the work of the runtime in another process. The command reads that process's memory, and the process does
-- nothing for it.
module Capstan.CLI.Top (subcommand) where

import Capstan.Bench.Visible (visible)
import Capstan.CLI.Help
import Capstan.CLI.Host (processWords)
import Capstan.CLI.Meant (meantProcess)
import Capstan.CLI.Problem
import Capstan.CLI.Words (findWords)
import Control.Exception (IOException, try)
import Control.Monad (forever, void)
import Data.Either (fromRight)
import Data.List (sortOn)
import Data.Maybe (catMaybes)
import Foreign.C.Error (Errno, ePERM)
import Options.Applicative
import System.Directory (listDirectory)
import System.Exit (ExitCode (..))
import System.IO
import System.Posix.Unistd (usleep)
import Text.Printf (printf)
import Text.Read (readMaybe)

data Options = Options
  { optionOnce :: Bool,
    optionProcess :: Int
  }

-- | The subcommand.
subcommand :: Mod CommandFields (IO ())
subcommand =
  command "top" . info (run <$> options) $
    progDesc "Show what the runtime of a running process does, each second until it ends"
      <> withExamples
        [ Example "capstan top 4711" "threads in regions, permits of oneTBB, the share of processors, and the busiest threads",
          Example "capstan top --once 4711" "the next second only"
        ]

options :: Parser Options
options =
  Options
    <$> switch (long "once" <> help "Show the next second, and end")
    <*> argument number (metavar "PID" <> help "The process")
  where
    number = eitherReader $ \text -> maybe (Left ("a process is a number, not \"" <> text <> "\"")) Right (readMaybe text)

run :: Options -> IO ()
run chosen = do
  (pid, base) <- awaitRuntime (optionProcess chosen)
  let shown = do
        before <- threadTimes pid
        usleep 1000000
        after <- threadTimes pid
        told <- processWords pid base
        case told of
          Left problem -> throwProblem (problemCode problem) (problemText pid problem)
          Right text -> putStr (screen pid text before after) >> hFlush stdout
  if optionOnce chosen then shown else void (forever (shown >> putStrLn ""))

-- | The process that the user means, and the address of the file in it that holds the runtime. A
-- process that has just begun gets a second to load the runtime, because a shell tells a number
-- before it has executed the program.
awaitRuntime :: Int -> IO (Int, Integer)
awaitRuntime number = look (50 :: Int)
  where
    look left = do
      pid <- meantProcess number
      found <- findRuntime pid
      case found of
        Just base -> pure (pid, base)
        Nothing
          | left > 0 -> usleep 20000 >> look (left - 1)
          | otherwise -> throwProblem noInput ("process " <> show pid <> " has no runtime of Capstan's")

-- | The address of the file that holds the runtime, if there is one in the process.
findRuntime :: Int -> IO (Maybe Integer)
findRuntime pid = do
  maps <- try (readFileStrict ("/proc/" <> show pid <> "/maps")) :: IO (Either IOException String)
  found <- either (const (throwProblem noInput ("there is no process " <> show pid <> " that can be looked into"))) (findWords pid) maps
  case found of
    Right (base, _) -> pure (Just base)
    Left problem | problemCode problem /= noInput -> throwProblem (problemCode problem) (problemText pid problem)
    Left _ -> pure Nothing

problemCode :: Errno -> ExitCode
problemCode problem = if problem == ePERM then ExitFailure 77 else noInput

problemText :: Int -> Errno -> String
problemText pid problem
  | problem == ePERM = "may not look into process " <> show pid <> ": it belongs to another user, or the kernel forbids it (kernel.yama.ptrace_scope)"
  | otherwise = "process " <> show pid <> " has ended"

-- | The number, the name and the processor time of each thread, in hundredths of a second.
threadTimes :: Int -> IO [(String, (String, Integer))]
threadTimes pid = do
  threads <- fromRight [] <$> (try (listDirectory tasks) :: IO (Either IOException [FilePath]))
  catMaybes <$> mapM time threads
  where
    tasks = "/proc/" <> show pid <> "/task"
    time thread = do
      text <- try (readFileStrict (tasks <> "/" <> thread <> "/stat")) :: IO (Either IOException String)
      pure (either (const Nothing) (Just . (,) thread . parse) text)
    parse text =
      let (behind, front) = break (== ')') (reverse text)
          fields = words (reverse behind)
          ticks = sum [n | field <- take 2 (drop 11 fields), Just n <- [readMaybe field]]
       in (drop 1 (dropWhile (/= '(') (reverse (drop 1 front))), ticks)

screen :: Int -> String -> [(String, (String, Integer))] -> [(String, (String, Integer))] -> String
screen pid text before after =
  unlines $
    printf "process %d: %d threads, %.2f processors in use" pid (length after) (fromIntegral (sum (map used after)) / 100 :: Double) :
    [printf "  %-16s %6s" (visible (unwords name)) count | count : name <- map words (lines text)]
      <> take 16 [printf "  %8s  %-16s %3d %%" thread (visible name) (used entry) | entry@(thread, (name, _)) <- sortOn (negate . used) after, used entry > 0]
  where
    used (thread, (_, ticks)) = ticks - maybe ticks snd (lookup thread before)

readFileStrict :: FilePath -> IO String
readFileStrict file = withFile file ReadMode $ \handle -> do
  text <- hGetContents handle
  length text `seq` pure text
