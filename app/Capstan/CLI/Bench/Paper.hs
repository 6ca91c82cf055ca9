{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Paper
-- Description : The figures that ghc-openmp published, to stand beside ours.
--
-- Measured by its author on an i7-10750H (6 cores) with GCC 15.2 and GHC 9.10.3, best of several runs.
-- The machine differs, so the ratios count, not the times.
module Capstan.CLI.Bench.Paper
  ( Published (..),
    PublishedRow (..),
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
    publishedRows :: [PublishedRow]
  }

data PublishedRow = PublishedRow
  { publishedCase :: Text,
    publishedThreads :: Int,
    publishedUnit :: Text,
    publishedFigures :: [Maybe Double]
  }

-- | The smallest figure of a runtime here: the tables have the best of several runs.
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
published = [microbenchmarks, dgemm, scaling, tasks]

both :: [Text]
both = ["libgomp", "ghc-openmp"]

microbenchmarks :: Published
microbenchmarks =
  Published
    "9.1 Microbenchmarks"
    "A region, a barrier, a million sines with a reduction, and 1000 entries of a critical section by every thread. Best of the rounds."
    both
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
    [ PublishedRow (named "dgemm-" n) 4 "ms" [Just gomp, Just theirs]
      | (n, gomp, theirs) <- [(128, 0.93, 1.05), (256, 10.83, 13.6), (512, 78.59, 83.66), (1024, 670.05, 654.66)]
    ]

scaling :: Published
scaling =
  Published
    "9.2 Naive DGEMM, N = 1024, by threads"
    "The author gives these for ghc-openmp only."
    both
    [PublishedRow "dgemm-1024" threads "ms" [Nothing, Just theirs] | (threads, theirs) <- [(1, 2965.94), (2, 1880.42), (4, 654.66)]]

tasks :: Published
tasks =
  Published
    "9.6 Deferred tasks, 4 threads"
    "Each task computes 1000 sines, about 15.6 us on the author's machine. Best of the rounds."
    ["ghc-openmp"]
    [ PublishedRow (named "tasks-" n <> mode) 4 "ms" [Just figure]
      | (n, alone, together) <- [(100, 1.5, 0.4), (500, 7.7, 2.5), (1000, 15.6, 5.0), (5000, 78.1, 19.9), (10000, 155.9, 42.6)],
        (mode, figure) <- [("-sequential", alone), ("-parallel", together)]
    ]

named :: Text -> Int -> Text
named prefix n = prefix <> Text.pack (show n)
