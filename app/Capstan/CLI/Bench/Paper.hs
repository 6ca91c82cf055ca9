{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Paper
-- Description : The published figures of ghc-openmp, for a comparison with ours.
--
-- Its author measured them on an i7-10750H (6 cores) with GCC 15.2 and GHC 9.10.3, and gives the
-- best of several runs. Our machine differs, so only ratios can be compared, not times.
module Capstan.CLI.Bench.Paper
  ( Published (..),
    PublishedRow (..),
    Facets (..),
    published,
    bestHere,
  )
where

import Capstan.CLI.Bench.Types (Results (..), Row (..), present)
import Data.Maybe (listToMaybe)
import Data.Text (Text)
import qualified Data.Text as Text

data Published = Published
  { publishedTitle :: Text,
    publishedNote :: Text,
    publishedColumns :: [Text],
    -- | Whether each plot has a kind of case or a column. The other of the two is a line in the
    -- plot.
    publishedFacets :: Facets,
    publishedRows :: [PublishedRow]
  }

-- | A plot for each kind of case, or a plot for each column.
data Facets = OfCases | OfColumns
  deriving (Eq)

data PublishedRow = PublishedRow
  { publishedCase :: Text,
    publishedThreads :: Int,
    publishedUnit :: Text,
    publishedFigures :: [Maybe Double]
  }

-- | The smallest figure of a runtime on this machine, as the published tables have the best of
-- several runs.
bestHere :: Results -> PublishedRow -> Text -> Maybe Double
bestHere results row runtime =
  listToMaybe
    [ minimum (present r)
      | r <- resultsRows results,
        rowCase r == publishedCase row,
        rowThreads r == publishedThreads row,
        rowRuntime r == runtime,
        not (null (present r))
    ]

published :: [Published]
published = [microbenchmarks, dgemm, scaling, regions, crossover] ++ loops ++ [tasks, conventions, batches]

both :: [Text]
both = ["libgomp", "ghc-openmp"]

microbenchmarks :: Published
microbenchmarks =
  Published
    "9.1 Microbenchmarks"
    "A region, a barrier, a million sines with a reduction, and 1000 entries of a critical section by every thread. Best of the rounds."
    both
    OfCases
    [ PublishedRow name threads unit (map Just figures)
      | (name, unit, column) <- [("fork-join", "us", 0), ("barrier", "us", 1), ("sin-1M", "ms", 2), ("critical-1000", "ms", 3)],
        (threads, all') <- rows,
        let figures = take 2 (drop (2 * column) all')
    ]
  where
    rows =
      [ (1, [0.464, 0.033, 0.276, 0.002, 15.973, 15.388, 0.021, 0.026]),
        (2, [0.765, 0.499, 0.242, 0.137, 7.453, 7.641, 0.069, 0.264]),
        (4, [0.931, 0.945, 0.248, 0.270, 3.777, 3.879, 0.352, 0.327]),
        (8, [1.461, 1.692, 0.434, 0.470, 3.507, 3.500, 0.942, 1.318])
      ]

dgemm :: Published
dgemm =
  Published
    "9.2 Naive DGEMM, 4 threads"
    "The triple loop, parallel over rows; the last element is checked here. Best of the rounds."
    both
    OfCases
    [ PublishedRow (named "dgemm-" n) 4 "ms" [Just gomp, Just theirs]
      | (n, gomp, theirs) <- [(128, 0.93, 1.05), (256, 10.83, 13.6), (512, 78.59, 83.66), (1024, 670.05, 654.66)]
    ]

scaling :: Published
scaling =
  Published
    "9.2 Naive DGEMM, N = 1024, by threads"
    "The author gives these for ghc-openmp only."
    both
    OfCases
    [PublishedRow "dgemm-1024" threads "ms" [Nothing, Just theirs] | (threads, theirs) <- [(1, 2965.94), (2, 1880.42), (4, 654.66)]]

regions :: Published
regions =
  Published
    "9.3 Regions from Haskell"
    "A safe call into a parallel sum of sines; two million here. Best of the rounds."
    ["ghc-openmp"]
    OfCases
    [PublishedRow "ffi-sines" threads "ms" [Just theirs] | (threads, theirs) <- [(1, 32.5), (2, 17.3), (4, 9.9), (8, 5.0)]]

crossover :: Published
crossover =
  Published
    "9.4 When a region pays, 4 threads"
    "A sum of sines, their number in the row's name: in C by an unsafe call, and in a region by a safe call. Best of the rounds."
    ["ghc-openmp"]
    OfColumns
    [ PublishedRow (prefix <> named "" n) 4 "us" [Just figure]
      | (n, alone, together) <- [(100, 0.7, 2.8), (200, 3.1, 2.9), (500, 8.8, 5.8), (1000, 10.2, 5.2), (5000, 64.6, 21.7), (100000, 1528.7, 385.5)],
        (prefix, figure) <- [("crossover-c-", alone), ("crossover-openmp-", together)]
    ]

-- | Here the C code of a program is the same for both generators of its Haskell code; the author's
-- C code differed.
loops :: [Published]
loops =
  [ table "GHC's own code generator" "ghc-openmp, native" "loop-" fst,
    table "LLVM's code generator" "ghc-openmp, LLVM" "loop-llvm-" snd
  ]
  where
    table generator column prefix choose =
      Published
        ("9.5 GHC's parallelism and OpenMP, 4 threads, " <> generator)
        "A sum of sines, their number in the row's name: in Haskell and C by one thread, by a green thread for each Capability, and in a region. LLVM's figures are here if GHC supports the installed LLVM. Best of the rounds."
        [column]
        OfColumns
        [ PublishedRow (start <> way <> named "-" n) 4 "us" [Just figure]
          | (n, figures) <- measured,
            (start, way, figure) <- zip3 [prefix, "loop-", prefix, "loop-"] ["haskell", "c", "parallel", "openmp"] (choose figures)
        ]
    measured =
      [ (10000, ([327.0, 148.0, 107.3, 42.9], [104, 103, 43, 28])),
        (100000, ([3283.6, 1549.8, 881.1, 375.8], [1109, 1101, 303, 278])),
        (1000000, ([31922.8, 15417.0, 8637.3, 6626.1], [11156, 10998, 2972, 2866])),
        (10000000, ([336020.5, 153998.0, 85324.7, 40187.1], [111751, 111112, 30924, 28747]))
      ]

conventions :: Published
conventions =
  Published
    "9.7 Calling conventions"
    "Nanoseconds for each call of a function that does nothing. A Cmm primitive here answers four questions at once; the value that Capstan.Prim reads in line needs no call. Callbacks from a region are made by GHC's wrapper, and in both modes of Capstan.Callback. Best of the rounds."
    ["ghc-openmp", "ghc-openmp, second set"]
    OfCases
    [ PublishedRow "call-prim" 4 "ns" [Just 0, Nothing],
      PublishedRow "call-inline" 4 "ns" [Nothing, Nothing],
      PublishedRow "call-unsafe" 4 "ns" [Just 3.1, Just 2.3],
      PublishedRow "call-safe" 4 "ns" [Just 89.8, Just 67.5],
      PublishedRow "callback-wrapper" 4 "ns" [Just 500, Nothing],
      PublishedRow "callback-released" 4 "ns" [Nothing, Nothing],
      PublishedRow "callback-kept" 4 "ns" [Nothing, Nothing]
    ]

batches :: Published
batches =
  Published
    "9.8 Batches"
    "Nanoseconds for each call of a batch, its size in the row's name: by a safe call for each, and by one safe call for all. Best of the rounds."
    ["ghc-openmp, one by one", "ghc-openmp, batched"]
    OfCases
    [ PublishedRow (named "batch-safe-" n) 4 "ns" [Just alone, Just batched]
      | (n, alone, batched) <- [(1, 98.3, 97.9), (2, 100.0, 50.3), (5, 97.3, 20.8), (10, 97.4, 12.4), (20, 102.6, 7.6), (50, 104.6, 4.7), (100, 97.8, 3.7)]
    ]

tasks :: Published
tasks =
  Published
    "9.6 Deferred tasks, 4 threads"
    "Each task computes 1000 sines, about 15.6 us on the author's machine. Best of the rounds."
    ["ghc-openmp"]
    OfCases
    [ PublishedRow (named "tasks-" n <> mode) 4 "ms" [Just figure]
      | (n, alone, together) <- [(100, 1.5, 0.4), (500, 7.7, 2.5), (1000, 15.6, 5.0), (5000, 78.1, 19.9), (10000, 155.9, 42.6)],
        (mode, figure) <- [("-sequential", alone), ("-parallel", together)]
    ]

named :: Text -> Int -> Text
named prefix n = prefix <> Text.pack (show n)
