{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Machine
-- Description : A description of the machine, and of its other load.
module Capstan.CLI.Bench.Machine
  ( describeMachine,
    countCores,
    Quiet,
    quiet,
  )
where

import Capstan.CLI.Bench.Types (Machine (..))
import Control.Exception (IOException, try)
import Data.Maybe (fromMaybe, listToMaybe, mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text
import qualified Data.Text.IO as Text
import System.Posix.Process (ProcessTimes (..), getProcessTimes)
import Text.Printf (printf)
import Text.Read (readMaybe)

-- | The text of a file of the kernel; empty if it cannot be read.
fileText :: FilePath -> IO Text
fileText path = either none id <$> try (Text.readFile path)
  where
    none :: IOException -> Text
    none _ = ""

-- | The value of a @name : value@ line.
field :: Text -> Text -> Maybe Text
field name text =
  listToMaybe [Text.strip (Text.drop 1 rest) | line <- Text.lines text, (key, rest) <- [Text.breakOn ":" line], Text.strip key == name]

-- | The CPUs that this process may use.
countCores :: IO Int
countCores = maybe 1 (sum . map size . Text.splitOn ",") . field "Cpus_allowed_list" <$> fileText "/proc/self/status"
  where
    size part = case mapMaybe (readMaybe . Text.unpack) (Text.splitOn "-" part) of
      [low, high] -> high - low + 1
      _ -> 1

-- | The clock ticks of all CPUs since the machine started.
data Quiet = Quiet
  { quietAll :: !Double,
    -- | Ticks that the hypervisor gave to other guests.
    quietStolen :: !Double,
    -- | Ticks that all processes used.
    quietUsed :: !Double,
    -- | Ticks that this process and its children used.
    quietOurs :: !Double
  }

quiet :: IO Quiet
quiet = do
  ticks <- mapMaybe (readMaybe . Text.unpack) . Text.words . Text.drop 3 . Text.takeWhile (/= '\n') <$> fileText "/proc/stat"
  times <- getProcessTimes
  let ours = sum [userTime times, systemTime times, childUserTime times, childSystemTime times]
      at n = sum (take 1 (drop n ticks))
  return
    Quiet
      { quietAll = sum (take 8 ticks),
        quietStolen = at 7,
        quietUsed = sum (take 3 ticks) + at 5 + at 6,
        quietOurs = realToFrac (fromEnum ours)
      }

-- | Describes the machine. The result takes the ticks before and after the measurement, from which
-- it computes the other load.
describeMachine :: IO ((Quiet, Quiet) -> Machine)
describeMachine = do
  info <- fileText "/proc/cpuinfo"
  memory <- fileText "/proc/meminfo"
  kernel <- Text.strip <$> fileText "/proc/sys/kernel/osrelease"
  governor <- Text.strip <$> fileText "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
  threads <- Text.strip <$> fileText "/sys/devices/system/cpu/smt/active"
  quota <- Text.strip <$> fileText "/sys/fs/cgroup/cpu.max"
  cores <- countCores
  let hypervisor = "hypervisor" `elem` Text.words (fromMaybe "" (field "flags" info))
      gigabytes = maybe 0 (/ 1048576) (readMaybe . Text.unpack . Text.takeWhile (/= ' ') =<< field "MemTotal" memory) :: Double
      notes =
        [Text.pack (printf "%.1f GiB of memory" gigabytes)]
          ++ ["a virtual machine: its CPUs may share a core or be taken away" | hypervisor]
          ++ ["frequency governor " <> governor | not (Text.null governor)]
          ++ ["hyper-threading is on" | threads == "1"]
          ++ ["CPU quota " <> quota | not (Text.null quota), not ("max" `Text.isPrefixOf` quota)]
  return $ \change ->
    Machine
      { machineProcessor = fromMaybe "unknown processor" (field "model name" info),
        machineCores = cores,
        machineKernel = kernel,
        machineNotes = notes ++ disturbances change
      }

-- | Load that may have spoilt the figures, as shares of the machine's time between the two moments.
disturbances :: (Quiet, Quiet) -> [Text]
disturbances (before, after) =
  [say "the hypervisor took %.1f %% of the CPU time" stolen | stolen > 0.01]
    ++ [say "NOT QUIET: other processes used %.1f %% of the CPU time" others | others > 0.02]
  where
    change f = f after - f before
    share x = if change quietAll > 0 then x / change quietAll else 0
    stolen = share (change quietStolen)
    others = share (change quietUsed - change quietOurs)
    say text x = Text.pack (printf text (100 * x))
