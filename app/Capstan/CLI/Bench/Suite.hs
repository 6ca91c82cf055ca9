{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Suite
-- Description : The list of suites, with their programs, team sizes and lengths.
module Capstan.CLI.Bench.Suite
  ( Suite (..),
    Program (..),
    suites,
    findSuite,
    floorProgram,
    teamSizes,
  )
where

import Capstan.CLI.Bench.Paper (PublishedRow (..), published, publishedRows)
import Data.List (find, nub, sort)
import Data.Text (Text)
import qualified Data.Text as Text

data Suite = Suite
  { suiteName :: !Text,
    suiteTitle :: !Text,
    -- | The number of new processes for each runtime, if the user names none.
    suiteRounds :: !Int,
    suitePrograms :: [Program]
  }

data Program = Program
  { programName :: !FilePath,
    -- | The words before the options of the command line.
    programWords :: [String],
    -- | A Haskell program, built once with the capstan package (@NAME-capstan@) and once without.
    programHaskell :: !Bool,
    -- | The team sizes on a machine with the given number of cores.
    programThreads :: Int -> [Int],
    -- | The number of samples of each case in one process, and the least length of a sample in
    -- microseconds.
    programSamples :: !(Int, Int),
    -- | Further options.
    programOptions :: [String],
    -- | Whether the program is started by @capstan run@ if the runtime is @rts@.
    programLaunched :: !Bool,
    -- | The program is measured in every n-th round only: a long program needs fewer rounds than a
    -- short program.
    programEvery :: !Int,
    -- | Cases without a required figure that are shown beside the required figures, with the
    -- largest team.
    programShown :: [String],
    -- | The runtimes under which the program is measured; empty for all runtimes.
    programRuntimes :: [Text],
    -- | The cases that are measured with a team size; empty for all cases.
    programCases :: Int -> [String],
    -- | No other case is measured, even if the user names one: it would show nothing.
    programOnly :: !Bool,
    -- | Heuristics of waiting (@CAPSTAN_WAIT@): all of them are on in one process and off in the
    -- next.
    programSwitches :: [Text]
  }

program :: FilePath -> (Int -> [Int]) -> Program
program name threads =
  Program
    { programName = name,
      programWords = [],
      programHaskell = False,
      programThreads = threads,
      programSamples = (5, 2000),
      programOptions = [],
      programLaunched = False,
      programEvery = 1,
      programShown = [],
      programRuntimes = [],
      programCases = const [],
      programOnly = False,
      programSwitches = []
    }

-- | The Haskell program with regions, with the word that chooses its cases.
host :: String -> Program
host way = (program "host" allCores) {programWords = [way], programHaskell = True, programSamples = (3, 2000)}

-- | A program that contains Capstan's event manager and other event loops. The substrate makes no
-- difference to it.
events :: FilePath -> Int -> Program
events name samples = (program name (: [])) {programRuntimes = ["pthread"], programSamples = (samples, 3000)}

-- | A group of cases of the Haskell program with tasks, which also contains the peers. The last
-- argument has the cases that are shown beside required figures.
haskellTasks :: String -> (Int -> [Int]) -> [String] -> Program
haskellTasks group sizes shown =
  (program "haskell-tasks" sizes)
    { programWords = [group],
      programRuntimes = ["rts"],
      programSamples = (3, 1000),
      programEvery = 2,
      programShown = shown
    }

-- | A group of cases of the program in which Haskell and C work together.
haskell :: String -> Int -> Program
haskell group samples =
  (program "haskell" allCores)
    { programWords = [group],
      programHaskell = True,
      programSamples = (samples, 2000),
      programRuntimes = ["rts"]
    }

-- | The cases that show the gain of the given heuristics, under the substrate that serves C
-- programs.
waiting :: [Text] -> [String] -> Program
waiting switches cases =
  (program "waiting" allCores)
    { programRuntimes = ["pthread"],
      programCases = const cases,
      programSwitches = switches
    }

-- | 1, 2, 4, … and all cores.
teamSizes :: Int -> [Int]
teamSizes cores = nub (sort (takeWhile (< cores) (iterate (* 2) 1) ++ [cores]))

-- | All cores, but at least two: a team of one does not measure parallel code.
allCores :: Int -> [Int]
allCores cores = [max 2 cores]

suites :: [Suite]
suites =
  [ suite "overhead" "The cost of each construct" [program "overhead" teamSizes],
    suite "tasks" "The cost of a task" [program "tasks" teamSizes],
    suite
      "oversubscribed"
      "More threads than cores"
      [ (program "overhead" beyond) {programSamples = (3, 1000)},
        (program "tasks" beyond) {programSamples = (3, 1000)}
      ],
    suite "teamsize" "Regions of changing size" [program "teamsize" allCores],
    suite "loaded" "Beside another process that computes" [program "loaded" allCores],
    suite
      "waiting"
      "The gain of each heuristic of waiting"
      [ waiting ["spin"] ["fork-join"],
        crowded (waiting ["yield"] ["barrier"]),
        beside (crowded (waiting ["costs"] ["region-beside-each"])),
        beside (waiting ["rivals"] ["region-beside-many", "barriers-x10-beside-many"]),
        beside (waiting ["apart"] ["region-beside-one", "barriers-x10-beside-one"]),
        waiting ["giveway"] firsts,
        waiting ["newcomer"] firsts,
        waiting ["giveway", "newcomer"] firsts,
        waiting ["wake"] ["after-pause"],
        waiting ["forks"] ["generations"],
        -- Other waits are not patient (struct cst_wait).
        (waiting ["patience"] ["ordered", "doacross"]) {programOnly = True},
        inHaskell "turns" "callers" ["green-8"],
        inHaskell "haskell" "mixed" ["region-p50-allocating"],
        inHaskell "haskell" "unsafe" ["unsafe-beside-allocating"],
        (haskell "latency" 3) {programCases = const ["region-p50-exact", "region-p99-exact"], programSwitches = ["together"]}
      ],
    suite "callers" "Several masters" [program "callers" allCores, host "callers"],
    suite "mixed" "Regions while Haskell computes" [host "mixed"],
    suite "nested" "Regions in regions" [program "nested" (\cores -> nub [2, max 2 (squareRoot cores)])],
    -- Each process repeats all cases by itself, which takes two minutes.
    Suite "ffi" "Foreign calls, and how they are measured" 3 [(program "ffi" allCores) {programRuntimes = ["rts"]}],
    suite "dgemm" "Long computations" [(program "dgemm" teamSizes) {programSamples = (1, 1000)}],
    suite
      "events"
      "Descriptors and timers"
      [ events "events-messages" 10,
        events "events-timers" 3,
        events "events-haskell" 5,
        events "events-simulated" 5,
        events "events-detach" 5
      ],
    suite
      "haskell-tasks"
      "Tasks in Haskell, beside their peers"
      [ (haskellTasks "costs" teamSizes ["fib-32-monad-par", "fib-32-async"]) {programOptions = ["+RTS", "-T", "-RTS"]},
        haskellTasks "elements" teamSizes [],
        haskellTasks "ports" allCores [],
        haskellTasks "programs" teamSizes ["matrix-multiplication-repa"],
        haskellTasks "bound" allCores [],
        -- Each case takes minutes.
        (haskellTasks "long" teamSizes []) {programSamples = (1, 1000)},
        haskellTasks "channels" allCores ["chan-"],
        (haskellTasks "pauses" allCores ["gc-copying-"]) {programEvery = 4},
        -- One thread copies new data. Two such threads and the marking thread would be more threads
        -- than cores.
        (haskellTasks "pauses" allCores ["gc-nonmoving-"]) {programOptions = ["+RTS", "--nonmoving-gc", "-qn1", "-RTS"]},
        haskellTasks "ocaml" allCores ["parallel-for-empty-domainslib", "matrix-multiplication-ocaml", "mandelbrot-ocaml"]
      ],
    suite "startup" "A tiny program, and an idle program" [(program "startup" allCores) {programLaunched = True}],
    suite
      "haskell"
      "Haskell and C in one program"
      [ (program "callback" allCores) {programHaskell = True, programSamples = (7, 3000)},
        haskell "calls" 5,
        haskell "latency" 3,
        (haskell "serial" 3) {programOptions = ["+RTS", "-qn1", "-RTS"]},
        haskell "sequential" 3
      ],
    -- The published tables have the best of several runs. A process takes up to half a minute.
    Suite
      "paper"
      "ghc-openmp's published tables"
      3
      [ tabulated (program "paper" (const [1, 2, 4, 8])) {programSamples = (1, 1000), programOptions = ["-b"]},
        tabulated (program "callback" (const [4])) {programHaskell = True, programRuntimes = ["rts"]},
        tabulated (haskell "paper" 3) {programThreads = const [1, 2, 4, 8], programRuntimes = []}
      ]
  ]
  where
    beyond cores = [2 * cores, 4 * cores, 8 * cores]
    crowded p = p {programThreads = \cores -> [2 * cores]}
    -- Samples that are much longer than the kernel's slices.
    beside p = p {programSamples = (10, 100000)}
    firsts = ["first-regions", "first-work"]
    inHaskell switch way cases = (host way) {programRuntimes = ["rts"], programCases = const cases, programSwitches = [switch]}
    suite name title = Suite name title 10
    tabulated p = p {programCases = \threads -> nub [Text.unpack (publishedCase r) | r <- concatMap publishedRows published, publishedThreads r == threads]}
    squareRoot = floor . sqrt . (fromIntegral :: Int -> Double)

-- | The program that measures the machine in every round.
floorProgram :: Program
floorProgram = (program "floor" allCores) {programSamples = (3, 1000)}

findSuite :: Text -> Maybe Suite
findSuite name = find ((== name) . suiteName) suites
