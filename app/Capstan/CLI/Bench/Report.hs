{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Report
-- Description : One page with plots, tables and the machine. It needs no server and no network.
module Capstan.CLI.Bench.Report
  ( Page (..),
    renderPage,
  )
where

import Capstan.Bench.Markup
import Capstan.CLI.Bench.Events (eventPlots)
import Capstan.CLI.Bench.Paper (Published (..), PublishedRow (..), bestHere, published)
import Capstan.CLI.Bench.PaperPlots (paperPlots)
import Capstan.CLI.Bench.Plot
import Capstan.CLI.Bench.Runtime (isOurs)
import Capstan.CLI.Bench.Simulate (Checked (..), Growth (..), Path (..), Simulation (..), growth)
import Capstan.CLI.Bench.Statistics
import Capstan.CLI.Bench.Style (stylesheet)
import Capstan.CLI.Bench.Suite (Suite (..), findSuite)
import Capstan.CLI.Bench.Table (figure, percent, quantity, ratioText)
import Capstan.CLI.Bench.Targets
import Capstan.CLI.Bench.Types
import Data.List (nub, sort)
import Data.Maybe (mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text
import qualified Data.Text.Lazy as Lazy

data Page = Page
  { pageResults :: [Results],
    pageJudgements :: [Judgement],
    pageSimulation :: Maybe Simulation
  }

renderPage :: Page -> Lazy.Text
renderPage page =
  "<!DOCTYPE html>\n"
    <> render
      ( element
          "html"
          ["lang" =: "en"]
          [ element
              "head"
              []
              [ element "meta" ["charset" =: "utf-8"] [],
                element "meta" ["name" =: "viewport", "content" =: "width=device-width, initial-scale=1"] [],
                element "title" [] [text "Capstan: measurements"],
                element "style" [] [text stylesheet]
              ],
            element "body" [] [element "main" [] (heading page ++ judgements page ++ concatMap section (pageResults page) ++ maybe [] simulated (pageSimulation page) ++ [method])]
          ]
      )

h2, p :: [Node] -> Node
h2 = element "h2" []
p = element "p" []

heading :: Page -> [Node]
heading page =
  element "h1" [] [text "Capstan: measurements"] :
  case pageResults page of
    [] -> [p [text "Nothing has been measured yet."]]
    results@(first : _) ->
      [ p [element "strong" [] [text (machineProcessor m)], text (", " <> count (machineCores m) "core" <> ", Linux " <> machineKernel m <> ". " <> Text.intercalate "; " (steady m) <> ".")],
        legend (nub (concatMap resultsRuntimes results)),
        contents results
      ]
      where
        m = resultsMachine first
        steady = filter (not . changing) . machineNotes

-- | Notes about a run rather than about the machine.
changing :: Text -> Bool
changing note = any (`Text.isPrefixOf` note) ["the hypervisor took", "NOT QUIET"]

count :: Int -> Text -> Text
count 1 thing = "1 " <> thing
count n thing = Text.pack (show n) <> " " <> thing <> "s"

legend :: [(Text, Text)] -> Node
legend runtimes =
  element
    "ul"
    ["class" =: "legend"]
    [ element "li" ["class" =: name] [element "b" [] [text (fullName name)], text " ", element "code" [] [text library]]
      | (name, library) <- runtimes
    ]

fullName :: Text -> Text
fullName "pthread" = "Capstan on pthread"
fullName "rts" = "Capstan on GHC's RTS"
fullName name = name

contents :: [Results] -> Node
contents results =
  element "p" ["class" =: "contents"] (concat [[element "a" ["href" =: ("#" <> resultsSuite r)] [text (resultsSuite r)], text " "] | r <- results])

judgements :: Page -> [Node]
judgements page
  | null (pageJudgements page) = []
  | otherwise =
    [ h2 [text "Required figures"],
      element "table" [] (tableHead ["suite", "row", "runtime", "figure", "bound", "verdict"] : map row (pageJudgements page))
    ]
  where
    row j =
      element
        "tr"
        ["title" =: targetReason t]
        (map cell [targetSuite t, targetTitle t, judgementRuntime j, either (const "") (shown . fst) (judgementOutcome j), either (const "") snd (judgementOutcome j)] ++ [verdictCell j])
      where
        t = judgementTarget j
        shown r = if targetPeer t == ToNothing then figure (ratioMiddle r) else ratioText r
    verdictCell j = case (judgementOutcome j, metBy j) of
      (Left why, _) -> element "td" ["class" =: "unknown"] [text why]
      (_, Just (True, noise)) -> element "td" ["class" =: "met"] [text (if noise then "met, inside the noise" else "met")]
      (_, _) -> element "td" ["class" =: "short"] [text "short"]

tableHead :: [Text] -> Node
tableHead names = element "tr" [] [element "th" [] [text n] | n <- names]

cell :: Text -> Node
cell words' = element "td" [] [text words']

section :: Results -> [Node]
section results =
  [ element
      "section"
      ["id" =: resultsSuite results]
      ( [ h2 [text (resultsSuite results), element "small" [] [text (maybe "" suiteTitle (findSuite (resultsSuite results)))]],
          element "p" ["class" =: "when"] [text (resultsDate results <> ", " <> count (resultsRounds results) "round" <> " of fresh processes, interleaved.")]
        ]
          ++ [element "p" ["class" =: "warning"] [text note] | note <- filter changing (machineNotes (resultsMachine results))]
          ++ failures results
          ++ (if null pictures then [] else pictures)
          ++ scaling results
          ++ [details results, floorTable results]
      )
  ]
  where
    pictures
      | resultsSuite results == "paper" = p [text "In the plots, lines that are broken and dots that are hollow are published ones."] : map (publishedTable results) published
      | resultsSuite results == "events" = eventPlots results
      | otherwise = concatMap (dots results) (sort (nub (map rowThreads (resultsRows results))))

failures :: Results -> [Node]
failures results = [element "p" ["class" =: "warning"] [text words'] | words' <- failureLines results]

-- | The ratios of the cases of one team size, where libgomp is 1.
dots :: Results -> Int -> [Node]
dots results threads
  | null rows = []
  | otherwise = [element "h3" [] [text (count threads "thread")], dotPlot "libgomp" rows]
  where
    here = filter ((== threads) . rowThreads) (resultsRows results)
    rows = mapMaybe row (nub (map rowCase here))
    row name = case [r | r <- here, rowCase r == name, rowRuntime r == "libgomp", not (null (present r))] of
      [] -> Nothing
      base : _ -> case mapMaybe (dot base) [r | r <- here, rowCase r == name, rowRuntime r /= "libgomp"] of
        [] -> Nothing
        found -> Just (DotRow name (quantity (rowUnit base) (median (present base))) found)
    dot base r = do
      ratio <- ratioPaired (rowValues r) (rowValues base)
      return (Dot (rowRuntime r) ratio (rowRuntime r <> ": " <> quantity (rowUnit r) (median (present r)) <> ", " <> ratioText ratio <> " x libgomp"))

-- | A small plot for each case with enough team sizes for a curve.
scaling :: Results -> [Node]
scaling results
  | length (nub (map rowThreads rows)) < 3 || null plots = []
  | otherwise = [element "h3" [] [text "By team size"], element "div" ["class" =: "facets"] plots]
  where
    rows = resultsRows results
    plots = mapMaybe plot (nub (map rowCase rows))
    plot name = case [Series runtime runtime (points name runtime) | runtime <- nub (map rowRuntime rows), not (null (drop 1 (points name runtime)))] of
      [] -> Nothing
      lines' -> Just (linePlot (LinePlot name "threads" (unitOf name) (330, 210) False [] lines'))
    points :: Text -> Text -> [(Double, Double)]
    points name runtime =
      [(fromIntegral (rowThreads r), median (present r)) | r <- rows, rowCase r == name, rowRuntime r == runtime, not (null (present r)), median (present r) > 0]
    unitOf name = Text.concat (take 1 [rowUnit r | r <- rows, rowCase r == name])

details :: Results -> Node
details results =
  element
    "details"
    []
    [ element "summary" [] [text "All figures"],
      element "table" [] (tableHead ["case", "threads", "runtime", "median", "min", "max", "spread", "n", "/ libgomp", "/ libomp"] : map row rows)
    ]
  where
    rows = resultsRows results
    row r =
      element
        "tr"
        ["class" =: rowRuntime r]
        (map cell ([rowCase r, Text.pack (show (rowThreads r)), rowRuntime r] ++ figures (present r) ++ map (against r) ["libgomp", "libomp"]))
      where
        figures [] = ["failed", "", "", "", "0"]
        figures values =
          [ quantity (rowUnit r) (median values),
            quantity (rowUnit r) (minimum values),
            quantity (rowUnit r) (maximum values),
            percent (spread values),
            Text.pack (show (length values))
          ]
    against r peer
      | not (isOurs (rowRuntime r)) = ""
      | otherwise =
        Text.concat (take 1 [ratioText ratio <> mark ratio | o <- rows, rowKey o == (rowSuite r, rowCase r, peer, rowThreads r), Just ratio <- [ratioPaired (rowValues r) (rowValues o)]])
    mark ratio = case verdict ratio of
      Faster -> " less"
      Slower -> " more"
      _ -> ""

floorTable :: Results -> Node
floorTable results =
  element
    "details"
    []
    [ element "summary" [] [text "The machine's floor in the same rounds"],
      element "table" [] (tableHead ["case", "median", "min", "max", "spread"] : [element "tr" [] (map cell (row r)) | r <- resultsFloor results, not (null (present r))])
    ]
  where
    row r =
      [ rowCase r,
        quantity (rowUnit r) (median (present r)),
        quantity (rowUnit r) (minimum (present r)),
        quantity (rowUnit r) (maximum (present r)),
        percent (spread (present r))
      ]

-- | A published table with a column for each runtime here.
publishedTable :: Results -> Published -> Node
publishedTable results table' =
  element
    "div"
    []
    $ [ element "h3" [] [text (publishedTitle table')],
        p [text (publishedNote table')],
        element "table" ["class" =: "published"] (tableHead (["case", "threads", "unit"] ++ map ("published: " <>) (publishedColumns table') ++ map ("here: " <>) runtimes) : map row (publishedRows table'))
      ]
      ++ paperPlots results table'
  where
    runtimes = nub (map rowRuntime (resultsRows results))
    row r =
      element "tr" [] $
        map cell ([publishedCase r, Text.pack (show (publishedThreads r)), publishedUnit r] ++ map (maybe "" figure) (publishedFigures r))
          ++ map (\runtime -> element "td" ["class" =: runtime] [text (maybe "" figure (bestHere results r runtime))]) runtimes

-- | The growth by the model, and the comparison of the model with two cores.
simulated :: Simulation -> [Node]
simulated s =
  [ element
      "section"
      ["id" =: "simulate"]
      [ h2 [text "simulate", element "small" [] [text "Beyond the cores that are here"]],
        p
          [ text
              "The runtime's own sources on a simulated machine with a cache for each thread: transfers of a line on the critical path of one \
              \operation. A path that grows logarithmically adds about the same for each doubling; one word for all grows with the team."
          ],
        element "ul" ["class" =: "legend"] [element "li" ["class" =: "ours"] [text "Capstan"], element "li" ["class" =: "central"] [text "one counter, one word, one queue for all"]],
        element "div" ["class" =: "facets wide"] (map plot (nub (map pathName (simulationPaths s)))),
        p [text ("The model against two real cores, where a transfer takes " <> figure (simulationTransferNs s) <> " ns:")],
        element "table" [] (tableHead ["path", "", "growth", "model, 2 threads", "measured", "measured / model"] : map row (simulationPaths s))
      ]
  ]
  where
    plot name =
      linePlot (LinePlot name "threads" "transfers" (490, 260) False [] [Series (pathKind q) (pathKind q) [(fromIntegral n, x) | (n, x) <- pathTransfers q] | q <- simulationPaths s, pathName q == name])
    row q = element "tr" ["class" =: pathKind q] (map cell ([pathName q, pathKind q, grows q] ++ check q))
    grows q = case growth (pathTransfers q) of
      Logarithmic -> "logarithmic"
      Steeper -> "faster than logarithmic"
      Unjudged -> "too few sizes"
    check q = case [c | c <- simulationChecked s, checkedName c == pathName q, checkedKind c == pathKind q] of
      c : _ -> [quantity "ns" (checkedForetold c), quantity "ns" (checkedMeasured c), figure (checkedMeasured c / checkedForetold c)]
      [] -> ["", "", ""]

method :: Node
method =
  element
    "section"
    ["id" =: "method"]
    [ h2 [text "How to read this"],
      p
        [ text
            "Every figure is the median over rounds. A round starts a fresh process for each runtime in turn; all run the same executable, and the \
            \dynamic linker finds another libgomp.so.1 for each. A ratio is the ratio of medians; its interval holds 95 % of bootstrap \
            \resamples of whole rounds. A difference is called one only if the interval lies on one side of 1 by more than a percent. \
            \Dots left of the line took less time than libgomp."
        ]
    ]
