{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Events
-- Description : The report's plots of event loops: messages a second by the number of pipes.
--
-- Both axes are logarithmic, as in the plots of the paper about GHC's event manager.
module Capstan.CLI.Bench.Events
  ( eventPlots,
  )
where

import Capstan.Bench.Markup
import Capstan.CLI.Bench.Plot
import Capstan.CLI.Bench.Statistics (median)
import Capstan.CLI.Bench.Types
import Data.List (sortOn)
import Data.Text (Text)
import qualified Data.Text as Text
import Text.Read (readMaybe)

-- | A line of a plot: its name, the class that colours it, and the beginning of its cases' names.
type Line = (Text, Text, Text)

eventPlots :: Results -> [Node]
eventPlots results = concatMap plot plots
  where
    plot (title, note, lines') = case [Series name colour points | (name, colour, start) <- lines', let points = sizes results start, not (null points)] of
      [] -> []
      series ->
        [ element "p" [] [text note],
          linePlot (LinePlot title "pipes" "messages a second" (1000, 380) True [] series)
        ]

plots :: [(Text, Text, [Line])]
plots =
  [ ( "1-byte messages, C callbacks",
      "A message is a byte read from a pipe that is ready and written to it again: two system calls that every loop must make. The bare loop does nothing else.",
      [("bare epoll loop", "bare", "messages-bare-"), ("Capstan", "c", "messages-c-"), ("libuv", "libuv", "messages-libuv-"), ("libevent", "libevent", "messages-libevent-")]
    ),
    ( "1-byte messages, Haskell actions",
      "The same by actions of a Haskell program. It has several threads: what a loop in C reaches beside one that sleeps is shown too.",
      [ ("bare epoll loop", "bare", "messages-bare-"),
        ("bare, beside a thread", "libevent", "messages-bare-threads-"),
        ("Capstan.Event", "haskell", "messages-haskell-"),
        ("GHC.Event", "ghc", "messages-ghc-"),
        ("one-shot", "timed", "messages-haskell-oneshot-"),
        ("GHC, one-shot", "libuv", "messages-ghc-oneshot-")
      ]
    ),
    ( "With a timeout for each message",
      "Each message cancels a timeout and starts another, beside a million timers.",
      [("Capstan, none", "c", "messages-c-"), ("Capstan", "timed", "messages-timeouts-"), ("libuv", "libuv", "messages-timeouts-libuv-"), ("libevent", "libevent", "messages-timeouts-libevent-")]
    ),
    ( "The manager alone",
      "The same on a simulated kernel, whose pipes cost next to nothing, up to the numbers of the first measurements of GHC's event manager (2010).",
      [("Capstan", "c", "simulated-"), ("with timeouts", "timed", "simulated-timeouts-")]
    )
  ]

-- | The messages a second for each number of pipes.
sizes :: Results -> Text -> [(Double, Double)]
sizes results start =
  sortOn fst [(n, 1000000 * median (present r)) | r <- resultsRows results, not (null (present r)), Just n <- [size (rowCase r)]]
  where
    size name = Text.stripPrefix start name >>= readMaybe . Text.unpack
