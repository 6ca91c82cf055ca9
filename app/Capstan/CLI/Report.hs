{-# LANGUAGE OverloadedStrings #-}

-- | Reports about a run: the lines that processes write as they end, and the summary of these lines
-- that @capstan run --report@ shows.
module Capstan.CLI.Report
  ( ProcessReport (..),
    PoolReport (..),
    parseReports,

    -- * The summary
    Summary (..),
    Silence (..),
    summaryText,
    summaryJson,

    -- * Pieces for others
    duration,
    plural,
  )
where

import Capstan.Bench.Visible (visible)
import Capstan.CLI.Host (Ending (..), Outcome (..))
import Capstan.CLI.Json (decodeLine)
import Capstan.CLI.Style
import Capstan.CLI.Version (version)
import Control.Applicative ((<|>))
import Data.Aeson
import qualified Data.Aeson.Encoding as E
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.Int (Int64)
import Data.List (find, intercalate, partition, sortOn)
import Data.Maybe (catMaybes, isJust, isNothing, listToMaybe, mapMaybe)
import Data.Ord (Down (..))
import Text.Printf (printf)

-- | The report of one process.
data ProcessReport = ProcessReport
  { reportVersion :: String,
    reportPid :: Int,
    reportParent :: Int,
    reportProgram :: String,
    reportSubstrate :: String,
    -- | The version of GHC, on the @rts@ substrate.
    reportGhc :: Maybe String,
    reportCapabilities :: Int,
    -- | Whether it is a Haskell program, whose foreign calls open the regions.
    reportHaskell :: Bool,
    reportRegions :: Int64,
    -- | The regions by the kind of code that opened them.
    reportCallers :: Callers,
    -- | The processors that the process may use; 0 if the runtime does not report them.
    reportProcessors :: Int,
    reportThreads :: Int,
    reportLargestTeam :: Int,
    reportTasks :: Int64,
    -- | Nanoseconds from load to end.
    reportWall :: Int64,
    reportLibrary :: String,
    -- | A setting that was refused, or a fallback.
    reportNote :: Maybe String,
    -- | Libraries that brought threads of their own.
    reportPools :: [PoolReport]
  }
  deriving (Eq, Show)

-- | The numbers of regions that were opened by code of GCC, by code of LLVM's or Intel's compilers,
-- and by libraries that use Capstan's threads now.
data Callers = Callers {byGcc :: Int64, byLlvm :: Int64, byAdopted :: Int64}
  deriving (Eq, Show)

-- | A library with a pool of its own.
data PoolReport = PoolReport
  { poolLibrary :: String,
    -- | The name of the pool that users know.
    poolKind :: String,
    -- | The number of the library's parallel sections that Capstan ran, and the number of threads
    -- of the largest section.
    poolSections :: Int64,
    poolLargest :: Int,
    -- | The number of threads that the library made itself, as far as known.
    poolMade :: Int,
    -- | Whether its parallel sections are regions of OpenMP.
    poolOpenMP :: Bool,
    -- | The reason why the library keeps its own threads.
    poolWhy :: Maybe String
  }
  deriving (Eq, Show)

instance FromJSON Callers where
  parseJSON = withObject "callers" $ \o -> Callers <$> o .:? "gcc" .!= 0 <*> o .:? "llvm" .!= 0 <*> o .:? "adopted" .!= 0

callersJson :: Callers -> Encoding
callersJson c = pairs ("gcc" .= byGcc c <> "llvm" .= byLlvm c <> "adopted" .= byAdopted c)

instance FromJSON PoolReport where
  parseJSON = withObject "pool" $ \o ->
    PoolReport
      <$> o .: "library"
      <*> o .: "pool"
      <*> o .:? "sections" .!= 0
      <*> o .:? "largest" .!= 0
      <*> o .:? "made" .!= 0
      <*> o .:? "openmp" .!= False
      <*> o .:? "why"

instance FromJSON ProcessReport where
  parseJSON = withObject "report" $ \o ->
    ProcessReport
      <$> o .: "capstan"
      <*> o .: "pid"
      <*> o .:? "ppid" .!= 0
      <*> o .:? "program" .!= "?"
      <*> o .:? "substrate" .!= "?"
      <*> o .:? "ghc"
      <*> o .:? "capabilities" .!= 0
      <*> o .:? "haskell" .!= False
      <*> o .:? "regions" .!= 0
      <*> o .:? "by" .!= Callers 0 0 0
      <*> o .:? "processors" .!= 0
      <*> o .:? "threads" .!= 0
      <*> o .:? "largest_team" .!= 0
      <*> o .:? "tasks" .!= 0
      <*> o .:? "wall_ns" .!= 0
      <*> o .:? "library" .!= "?"
      <*> o .:? "note"
      <*> o .:? "pools" .!= []

reportJson :: ProcessReport -> Encoding
reportJson r =
  pairs $
    mconcat
      [ "capstan" .= reportVersion r,
        "pid" .= reportPid r,
        "ppid" .= reportParent r,
        "program" .= reportProgram r,
        "substrate" .= reportSubstrate r,
        "ghc" .= reportGhc r,
        "capabilities" .= reportCapabilities r,
        "haskell" .= reportHaskell r,
        "regions" .= reportRegions r,
        E.pair "by" (callersJson (reportCallers r)),
        "processors" .= reportProcessors r,
        "threads" .= reportThreads r,
        "largest_team" .= reportLargestTeam r,
        "tasks" .= reportTasks r,
        "wall_ns" .= reportWall r,
        "library" .= reportLibrary r,
        "note" .= reportNote r,
        E.pair "pools" (E.list poolJson (reportPools r))
      ]

poolJson :: PoolReport -> Encoding
poolJson p =
  pairs $
    mconcat
      [ "library" .= poolLibrary p,
        "pool" .= poolKind p,
        "sections" .= poolSections p,
        "largest" .= poolLargest p,
        "made" .= poolMade p,
        "openmp" .= poolOpenMP p,
        "why" .= poolWhy p
      ]

-- | The reports in the lines of a report descriptor. Other lines are left out, as any process may
-- write to a descriptor that it inherited.
parseReports :: B.ByteString -> [ProcessReport]
parseReports = mapMaybe decodeLine . filter ((<= longestReport) . B.length) . C.lines

-- The bound of a line. The runtime's lines are shorter (LINE in runtime/core/process/report.c).
longestReport :: Int
longestReport = 4096

-- A report that is safe to show on a terminal: its texts come from other processes.
visibleReport :: ProcessReport -> ProcessReport
visibleReport r =
  r
    { reportVersion = visible (reportVersion r),
      reportProgram = visible (reportProgram r),
      reportSubstrate = visible (reportSubstrate r),
      reportGhc = visible <$> reportGhc r,
      reportLibrary = visible (reportLibrary r),
      reportNote = visible <$> reportNote r,
      reportPools = map visiblePool (reportPools r)
    }
  where
    visiblePool p =
      p
        { poolLibrary = visible (poolLibrary p),
          poolKind = visible (poolKind p),
          poolWhy = visible <$> poolWhy p
        }

-- | The reason why the program itself did not report.
data Silence
  = -- | The loader ignored the runtime, because the program is privileged in the named way.
    Untrusting String
  | -- | A static program has no loader.
    Static
  | -- | The program is for another processor or another C library.
    Foreign
  | -- | The program ended before it could report, or in a way that runs no exit handlers.
    Abrupt
  deriving (Eq, Show)

-- | The summary of a run.
data Summary = Summary
  { summaryCommand :: [String],
    summaryOutcome :: Outcome,
    summarySilence :: Silence,
    summaryReports :: [ProcessReport]
  }
  deriving (Show)

-- The report of the program itself, and the reports of its descendants, with the busiest first. A
-- process may report more than once. Its handlers may run before it executes another program. A
-- library that was loaded before a Haskell program reports beside the program. So the reports of
-- the last program count, and among them the first report that has regions.
ownAndOthers :: Summary -> (Maybe ProcessReport, [ProcessReport])
ownAndOthers summary = (find ((> 0) . reportRegions) ofLast <|> listToMaybe ofLast, sortOn (Down . reportRegions) others)
  where
    (own, others) = partition ((== outcomePid (summaryOutcome summary)) . reportPid) (summaryReports summary)
    ofLast = case reverse own of
      [] -> []
      reports@(r : _) -> filter ((== reportProgram r) . reportProgram) reports

-- | The summary as text.
summaryText :: Style -> Summary -> String
summaryText style summary = unlines (title : map row rows)
  where
    (own, others) = ownAndOthers summary {summaryReports = map visibleReport (summaryReports summary)}
    outcome = summaryOutcome summary
    name = visible (concat (take 1 (summaryCommand summary)))
    title = heading style ("capstan: " <> name <> " " <> verdict)
    verdict = case own of
      Just r
        | reportRegions r > 0 -> "ran on Capstan " <> reportVersion r
        | otherwise -> "loaded Capstan " <> reportVersion r <> " but opened no parallel region"
      Nothing
        | null others -> "did not use Capstan"
        | otherwise -> "did not report, but its children did"
    row (label, text) = printf "  %s %s" (faint style (printf "%-10s" (label :: String))) text
    rows =
      [("reason", silenceText (outcomeEnding outcome) (summarySilence summary)) | isNothing own]
        <> maybe [] (processRows style) own
        <> [("others", othersText others) | not (null others)]
        <> [("", othersLine r) | r <- take shown active]
        <> [("", printf "and %d more" (length active - shown)) | length active > shown]
        <> [("note", caution style note) | note <- catMaybes [reportNote r | r <- take shown active]]
        <> [("time", timeText outcome)]
        <> [("", caution style "most of it is system time: threads often sleep, yield and wake") | mostlySystem outcome, any ((> 1) . reportLargestTeam) (summaryReports summary)]
    active = filter ((> 0) . reportRegions) others
    shown = 5 :: Int

processRows :: Style -> ProcessReport -> [(String, String)]
processRows style r =
  [ ("runtime", reportLibrary r),
    ("substrate", substrateText r),
    ("regions", printf "%d" (reportRegions r))
  ]
    <> [("callers", text) | let text = callersText r, not (null text)]
    <> [ ("threads", printf "%d, largest team %d%s" (reportThreads r) (max 1 (reportLargestTeam r)) (processorsText r)),
         ("tasks", printf "%d" (reportTasks r))
       ]
    <> [("pool", poolText p) | p <- reportPools r]
    <> [("note", caution style note) | Just note <- [reportNote r]]

processorsText :: ProcessReport -> String
processorsText r
  | reportProcessors r > 0 = " (" <> plural (reportProcessors r) "processor" "processors" <> ")"
  | otherwise = ""

-- | The kinds of code that opened the regions; empty if the runtime does not report them.
callersText :: ProcessReport -> String
callersText r =
  intercalate ", " $
    [ printf "%s (%d)" name count
      | (name, count) <- [("code of GCC", byGcc calls), ("code of LLVM or Intel", byLlvm calls), ("adopted libraries", byAdopted calls)] :: [(String, Int64)],
        count > 0
    ]
      <> ["called from Haskell" | reportHaskell r]
  where
    calls = reportCallers r

poolText :: PoolReport -> String
poolText p = printf "%s (%s): %s%s" (poolKind p) (poolLibrary p) served own
  where
    served
      | poolSections p > 0 = printf "%d sections here, the largest of %d threads" (poolSections p) (poolLargest p) <> maybe "" ("; then not adopted: " <>) (poolWhy p)
      | poolOpenMP p = "served: it uses OpenMP, so its sections are among the regions"
      | otherwise = maybe "no section so far" ("not adopted: " <>) (poolWhy p)
    own = if poolMade p > 0 then ", " <> plural (poolMade p) "thread" "threads" <> " made by itself" else "" :: String

substrateText :: ProcessReport -> String
substrateText r = case reportGhc r of
  Just ghc -> printf "%s: GHC %s, %s" (reportSubstrate r) ghc (plural (reportCapabilities r) "Capability" "Capabilities")
  Nothing
    | reportSubstrate r == "none" -> "none was needed: no region had more than one thread"
    | otherwise -> reportSubstrate r

othersText :: [ProcessReport] -> String
othersText others =
  printf "%s reported: %d regions, %d tasks" (plural (length others) "child" "children") regions tasks
  where
    regions = sum (map reportRegions others)
    tasks = sum (map reportTasks others)

othersLine :: ProcessReport -> String
othersLine r =
  printf "%s (%d): %d regions, %d threads, %s" (reportProgram r) (reportPid r) (reportRegions r) (reportThreads r) (substrateText r)

timeText :: Outcome -> String
timeText outcome =
  printf
    "%s wall, %s processor (%s user, %s system), %d MiB at most"
    (duration (outcomeWall outcome))
    (duration (outcomeUser outcome + outcomeSystem outcome))
    (duration (outcomeUser outcome))
    (duration (outcomeSystem outcome))
    ((outcomePeak outcome + 512) `div` 1024)

-- | Whether the system's part of the processor time is the larger one. In a short run it is often
-- the start of the program, which tells nothing.
mostlySystem :: Outcome -> Bool
mostlySystem outcome = outcomeSystem outcome > outcomeUser outcome && outcomeUser outcome + outcomeSystem outcome >= 50000000

silenceText :: Ending -> Silence -> String
silenceText ending silence = case silence of
  Untrusting how -> "the program is " <> how <> ": the loader ignores LD_PRELOAD there"
  Static -> "the program is linked statically: nothing can be preloaded into it"
  Foreign -> "the program is made for another processor or C library: its loader cannot load the runtime"
  Abrupt -> case ending of
    Killed signal -> printf "signal %d ended the program before the runtime could report" signal
    Exited _ -> "the program ended without its exit handlers, or closed what it did not open"

-- | The summary as one JSON object.
summaryJson :: Summary -> Encoding
summaryJson summary =
  pairs $
    mconcat
      [ "capstan" .= version,
        "command" .= summaryCommand summary,
        "pid" .= outcomePid outcome,
        "exit" .= code,
        "signal" .= signal,
        "wall_ns" .= outcomeWall outcome,
        "user_ns" .= outcomeUser outcome,
        "system_ns" .= outcomeSystem outcome,
        "peak_kib" .= outcomePeak outcome,
        "served" .= isJust own,
        "reason" .= maybe (Just (silenceText (outcomeEnding outcome) (summarySilence summary))) (const Nothing) own,
        E.pair "process" (maybe E.null_ reportJson own),
        E.pair "children" (E.list reportJson others),
        E.pair "total" . pairs $
          "processes" .= length reports <> "regions" .= sum (map reportRegions reports) <> "tasks" .= sum (map reportTasks reports)
      ]
  where
    (own, others) = ownAndOthers summary
    reports = maybe id (:) own others
    outcome = summaryOutcome summary
    (code, signal) = case outcomeEnding outcome of
      Exited c -> (Just c, Nothing)
      Killed s -> (Nothing, Just s)

-- | A number of nanoseconds, with the unit that fits it.
duration :: Int64 -> String
duration ns
  | ns < 1000000 = printf "%.0f us" (fromIntegral ns / 1e3 :: Double)
  | ns < 1000000000 = printf "%.1f ms" (fromIntegral ns / 1e6 :: Double)
  | otherwise = printf "%.3f s" (fromIntegral ns / 1e9 :: Double)

-- | A count with its noun.
plural :: Int -> String -> String -> String
plural 1 one _ = "1 " <> one
plural n _ many = show n <> " " <> many
