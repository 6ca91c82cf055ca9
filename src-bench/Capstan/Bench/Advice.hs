{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Advice
-- Description : Causes of distortion in words: evidence and advice.
module Capstan.Bench.Advice
  ( Cause (..),
    causeTitle,
    Finding (..),
    Numbers (..),
    wordsFor,
    fillsCores,
    adviceFor,
    duration,
    count,
    bytes,
    percent,
    extent,
    plural,
  )
where

import Criterion.Measurement (secs)
import Data.Text (Text)
import qualified Data.Text as Text
import Numeric (showFFloat)

-- | The causes that can distort a figure, in the order in which they are reported: causes before
-- effects.
data Cause
  = -- | Each call makes @malloc@ ask the kernel for memory.
    AllocatorThreshold
  | -- | Each call touches pages that the process did not have.
    PageFaults
  | -- | Memory waits for the garbage collector, which does not know its size.
    LateFinalisers
  | -- | The first call touches pages, or evaluates a value, and later calls find the result.
    FirstTouch
  | -- | Threads that are ready wait for a core.
    Oversubscription
  | -- | The processor is not equally fast in all processes.
    CpuFrequency
  | -- | The section that is timed at once is too short for the clock.
    TimerResolution
  | -- | A benchmark's figure depends on the benchmarks that ran before it.
    OrderEffect
  | -- | Repeats of a benchmark differ, although each has processes of its own.
    Disagreement
  deriving (Eq, Ord, Show, Enum, Bounded)

causeTitle :: Cause -> Text
causeTitle cause = case cause of
  AllocatorThreshold -> "allocator threshold"
  PageFaults -> "page faults per call"
  LateFinalisers -> "late finalisers"
  FirstTouch -> "first touch"
  Oversubscription -> "oversubscription"
  CpuFrequency -> "CPU frequency"
  TimerResolution -> "timer resolution"
  OrderEffect -> "order effect"
  Disagreement -> "repeats disagree"

-- | A cause in one benchmark: the part of the time that it explains (or the difference of the
-- figures), the seconds of a call, and the numbers that show it.
data Finding = Finding
  { findingCause :: !Cause,
    findingShare :: !Double,
    findingCall :: !Double,
    findingNumbers :: !Numbers
  }
  deriving (Eq, Show)

-- | Evidence. Times in seconds, sizes in bytes, counts per call.
data Numbers
  = -- | The number of faults, and the cost of a fault.
    Faults Double Double
  | -- | The numbers of mmap calls, their bytes, brk calls, munmap and madvise calls, and faults.
    Kernel Double Double Double Double Double
  | -- | The bytes that were freed late, and the number of calls.
    Late Double Double
  | -- | The time of the first call, its faults, and the bytes that it allocated more than later
    -- calls, if that is the cause.
    First Double Double Double
  | -- | The part of the time spent waiting, the used cores, the available cores, the threads, and
    -- the involuntary switches a second.
    Waiting Double Double Int Int Double
  | -- | The largest number of threads of a call at a time, the used cores, the available cores, and
    -- the involuntary switches a second.
    Making Int Double Int Double
  | -- | The ratio of the slowest to the fastest process, for the chain of additions and for the
    -- benchmark.
    Frequency Double Double
  | -- | The time of the clock, the section that is timed at once, and whether each run is timed by
    -- itself.
    Clock Double Double Bool
  | -- | The figure alone, the figure after other benchmarks, and the least and the largest figure
    -- after others. Then page faults and bytes that the collector copied: each alone, and in the
    -- process where they differ most.
    Order Double Double Double Double (Maybe (Double, Double)) (Maybe (Double, Double))
  | -- | The number of repeats, and their least and largest figures.
    Repeats Int Double Double
  deriving (Eq, Show)

-- | The evidence of the worst of several benchmarks.
wordsFor :: [Text] -> Finding -> [Text]
wordsFor names (Finding _ share call numbers) = case numbers of
  Faults faults each ->
    [worst <> count faults <> " page faults in each call of " <> duration call <> "; one costs " <> duration each <> " here, together " <> percent share <> " of the time."]
  Kernel maps' size brks gives faults ->
    [ worst <> "each call asks the kernel for memory: "
        <> Text.intercalate
          ", "
          ( [count maps' <> " mmap" <> (if size > 0 then " of " <> bytes size else "") | maps' >= 0.005]
              ++ [count brks <> " brk or mprotect" | brks >= 0.005]
              ++ [count gives <> " munmap or madvise" | gives >= 0.005]
              ++ [count faults <> " page faults on the new pages" | faults >= 0.5]
          )
        <> "; together "
        <> percent share
        <> " of the time."
    ]
      ++ ["glibc gives blocks from 128 KiB (M_MMAP_THRESHOLD) a mapping of their own and unmaps it when they are freed." | size >= 65536, maps' >= 0.05]
      ++ ["glibc gives the free end of its heap back to the kernel when it exceeds M_TRIM_THRESHOLD, and asks for it again in the next call." | brks >= 0.05]
  Late late calls ->
    [worst <> bytes late <> " of malloc's memory were still held after " <> count calls <> " calls, and freed by the next garbage collection.", "Finalisers run only when the collector does, and it counts the Haskell heap alone: memory of C does not make it run."]
  First time faults made ->
    [ worst <> "the first call takes " <> duration time <> ", the others " <> duration call <> "; it "
        <> (if made > 0 then "evaluates what the others find there: " <> bytes made <> " allocated." else "touches " <> count faults <> " pages that the others find there.")
    ]
  Waiting _ used cores threads' switches ->
    [ worst <> "threads that were ready to run waited for a core " <> percent share <> " of the time ("
        <> count switches
        <> " involuntary switches a second).",
      "This process has " <> plural threads' "thread" <> " and used " <> count used <> " of " <> plural cores "core" <> ": "
        <> (if fillsCores used cores then "its own threads stand in each other's way." else "other processes had the rest.")
    ]
  Making made used cores switches ->
    [ worst <> "each call makes " <> plural made "thread" <> " that run at once, and used " <> count used <> " of " <> plural cores "core" <> ": they stand in each other's way ("
        <> count switches
        <> " involuntary switches a second)."
    ]
  Frequency spins times ->
    [worst <> "processes differ by " <> percent (times - 1) <> ", and a fixed chain of additions by " <> percent (spins - 1) <> ": the processor was slower, by its clock or because its core was shared."]
  Clock clock section perRun
    | perRun -> [worst <> "each run is timed by itself and takes " <> duration section <> "; the clocks around an empty run show " <> duration clock <> "."]
    | otherwise -> [worst <> "a sample takes " <> duration section <> "; the clock moves in steps of " <> duration clock <> "."]
  Order alone after least most faults copied ->
    [worst <> duration alone <> " in a process of its own, " <> duration after <> " in a process that runs the others as well (" <> duration least <> " to " <> duration most <> ", by the order)."]
      ++ ["A call takes " <> count own <> " page faults in a process of its own, and " <> count there <> " after others." | Just (own, there) <- [faults]]
      ++ ["For a call the collector copies " <> bytes own <> " in a process of its own, and " <> bytes there <> " after others." | Just (own, there) <- [copied]]
  Repeats n least most ->
    [Text.pack (show n) <> " repeats (" <> Text.intercalate ", " (take 3 names) <> (if n > 3 then ", …" else "") <> ") should agree and take from " <> duration least <> " to " <> duration most <> "."]
  where
    worst = case names of
      [_] -> ""
      name : _ -> name <> ": "
      [] -> ""

-- | A number with a noun, which has an s in the plural.
plural :: Int -> Text -> Text
plural n thing = Text.pack (show n) <> " " <> thing <> (if n == 1 then "" else "s")

-- | Whether a process uses nearly all cores. The arguments are the used and the available cores.
fillsCores :: Double -> Int -> Bool
fillsCores used cores = used >= 0.9 * fromIntegral cores

-- | The advice about a finding.
adviceFor :: Finding -> [Text]
adviceFor finding = case findingCause finding of
  AllocatorThreshold ->
    [ "Let the caller own the result: memory of GHC's (mallocForeignPtrBytes) or a buffer that is used again (an arena); docs/bindings.md.",
      "To see what it costs: set MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=1073741824 in the environment and measure again."
    ]
  PageFaults ->
    ["Use the same memory again in each call; or time a call together with the first use of its memory, if that is what your program does."]
  LateFinalisers ->
    ["Free C's memory where its last use is (finalizeForeignPtr, or bracket), or give the collector memory that it counts: mallocForeignPtrBytes."]
  FirstTouch
    | First _ _ made <- findingNumbers finding, made > 0 -> ["Make it in the environment (env), which evaluates it, so that no measured call does."]
    | otherwise -> ["Write to the memory once in the environment (env), so that no measured call is the first."]
  Oversubscription
    | Waiting _ used cores _ _ <- findingNumbers finding, fillsCores used cores -> ["Run fewer threads: +RTS -N, OMP_NUM_THREADS."]
    | Making {} <- findingNumbers finding -> ["Make at most one thread for each core, and keep the threads from call to call."]
    | otherwise -> ["Measure when nothing else runs; the figures of this run are not the benchmark's, and small effects of order are not reported."]
  CpuFrequency ->
    ["Fix the frequency (cpupower frequency-set -g performance, no turbo), leave hyperthreads and other guests idle, or compare only figures of the same round."]
  TimerResolution ->
    ["Put more work into a run, or time many runs together: whnfIO or perBatchEnv instead of perRunEnv."]
  OrderEffect ->
    ["Believe the figure of a process of its own. Something survives a benchmark: memory that malloc keeps, a larger heap, a full cache, live data that the collector copies."]
  Disagreement ->
    ["Believe none of these figures before the difference is explained. Possible causes are the alignment of code or data, and the first of the causes above."]

-- | Seconds, with a unit.
duration :: Double -> Text
duration = Text.pack . secs

percent :: Double -> Text
percent x = Text.pack (showFFloat (Just 0) (100 * x) " %")

-- | A share in percent; a large one as a factor.
extent :: Double -> Text
extent x
  | x < 10 = percent x
  | otherwise = count (1 + x) <> " times"

-- | A number with three significant digits. It is rounded first, so 0.9996 is shown as 1.00.
count :: Double -> Text
count x
  | x >= 99.95 = shown 0
  | x >= 9.995 = shown 1
  | x >= 0.9995 || x == 0 = shown 2
  | otherwise = shown 3
  where
    shown n = Text.pack (showFFloat (Just n) x "")

bytes :: Double -> Text
bytes x
  | x >= 1048576 = count (x / 1048576) <> " MiB"
  | x >= 1024 = count (x / 1024) <> " KiB"
  | otherwise = count x <> " bytes"
