{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Suite
-- Description : The list of suites: which programs, how many threads, how long.
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
    -- | Fresh processes for each runtime, where the user says nothing.
    suiteRounds :: !Int,
    suitePrograms :: [Program]
  }

data Program = Program
  { programName :: !FilePath,
    -- | The words before its options.
    programWords :: [String],
    -- | A Haskell program, built once with the capstan package (@NAME-capstan@) and once without.
    programHaskell :: !Bool,
    -- | Team sizes on a machine of so many cores.
    programThreads :: Int -> [Int],
    -- | Samples of each case in one process, and the least length of one in microseconds.
    programSamples :: !(Int, Int),
    -- | Options of its own.
    programOptions :: [String],
    -- | Started through @capstan run@ where the runtime is @rts@.
    programLaunched :: !Bool,
    -- | Measured in one round of so many: long programs need not be started as often as short ones.
    programEvery :: !Int,
    -- | Cases that no required figure names and that are shown beside those, with the largest team.
    programShown :: [String],
    -- | Under these runtimes only; under all where there are none.
    programRuntimes :: [Text],
    -- | The cases with a team of that size; all where there are none.
    programCases :: Int -> [String],
    -- | Heuristics of waiting (@CAPSTAN_WAIT@) that are all on in one process and all off in the next.
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
      programSwitches = []
    }

-- | The Haskell program with regions, in one of its ways.
host :: String -> Program
host way = (program "host" allCores) {programWords = [way], programHaskell = True, programSamples = (3, 2000)}

-- | A program that has Capstan's event manager in it, and others beside it; it does not matter under
-- which substrate.
events :: FilePath -> Int -> Program
events name samples = (program name (: [])) {programRuntimes = ["pthread"], programSamples = (samples, 3000)}

-- | A group of cases of the Haskell program with tasks, which has their peers in it; the cases that are shown
-- where only required figures are wanted.
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

-- | The cases that show what these heuristics gain, under the substrate that serves C programs.
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

-- | Two at least: a team of one says nothing about the question.
allCores :: Int -> [Int]
allCores cores = [max 2 cores]

suites :: [Suite]
suites =
  [ suite "overhead" "What each construct costs" [program "overhead" teamSizes],
    suite "tasks" "What a task costs" [program "tasks" teamSizes],
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
      "What each way to wait gains"
      [ waiting ["spin"] ["fork-join"],
        crowded (waiting ["yield"] ["barrier"]),
        beside (crowded (waiting ["costs"] ["region-beside-each"])),
        beside (waiting ["rivals"] ["region-beside-many", "barriers-x10-beside-many"]),
        beside (waiting ["apart"] ["region-beside-one", "barriers-x10-beside-one"]),
        waiting ["giveway"] firsts,
        waiting ["newcomer"] firsts,
        waiting ["giveway", "newcomer"] firsts,
        waiting ["wake"] ["after-pause"],
        waiting ["patience"] ["ordered", "doacross"],
        inHaskell "turns" "callers" ["green-8"],
        inHaskell "haskell" "mixed" ["region-p50-allocating"],
        inHaskell "haskell" "unsafe" ["unsafe-beside-allocating"]
      ],
    suite "callers" "Many masters" [program "callers" allCores, host "callers"],
    suite "mixed" "Regions while Haskell computes" [host "mixed"],
    suite "nested" "Regions in regions" [program "nested" (\cores -> nub [2, max 2 (squareRoot cores)])],
    -- Each process repeats all by itself, which takes two minutes.
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
        -- Minutes each.
        (haskellTasks "long" teamSizes []) {programSamples = (1, 1000)},
        haskellTasks "channels" allCores ["chan-"],
        (haskellTasks "pauses" allCores ["gc-copying-"]) {programEvery = 4},
        -- One thread copies what is new: two, and the one that marks, would be a thread more than there are cores.
        (haskellTasks "pauses" allCores ["gc-nonmoving-"]) {programOptions = ["+RTS", "--nonmoving-gc", "-qn1", "-RTS"]},
        haskellTasks "ocaml" allCores ["parallel-for-empty-domainslib", "matrix-multiplication-ocaml", "mandelbrot-ocaml"]
      ],
    suite "startup" "A tiny program, and an idle one" [(program "startup" allCores) {programLaunched = True}],
    suite
      "haskell"
      "Haskell and C in one program"
      [ (program "callback" allCores) {programHaskell = True, programSamples = (7, 3000)},
        haskell "calls" 5,
        haskell "latency" 3,
        (haskell "serial" 3) {programOptions = ["+RTS", "-qn1", "-RTS"]},
        haskell "sequential" 3
      ],
    -- The tables have the best of several runs. A process takes up to half a minute.
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
    -- Long against the kernel's slices.
    beside p = p {programSamples = (10, 100000)}
    firsts = ["first-regions", "first-work"]
    inHaskell switch way cases = (host way) {programRuntimes = ["rts"], programCases = const cases, programSwitches = [switch]}
    suite name title = Suite name title 10
    tabulated p = p {programCases = \threads -> nub [Text.unpack (publishedCase r) | r <- concatMap publishedRows published, publishedThreads r == threads]}
    squareRoot = floor . sqrt . (fromIntegral :: Int -> Double)

-- | Measures the machine in every round.
floorProgram :: Program
floorProgram = (program "floor" allCores) {programSamples = (3, 1000)}

findSuite :: Text -> Maybe Suite
findSuite name = find ((== name) . suiteName) suites
