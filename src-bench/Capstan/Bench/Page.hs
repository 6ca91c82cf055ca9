{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Page
-- Description : The report as one HTML file that needs no other file.
module Capstan.Bench.Page
  ( pageText,
  )
where

import Capstan.Bench.Advice (causeTitle, duration, extent, plural)
import Capstan.Bench.Baseline (Change, changeText)
import Capstan.Bench.Diagnose (Diagnosis (..), trials)
import Capstan.Bench.Evidence
import Capstan.Bench.Markup
import Capstan.Bench.Plot
import Capstan.Bench.Report (Figures (..), perCallFigures)
import Capstan.Bench.Statistics (Summary (..))
import Data.Text (Text)
import qualified Data.Text as Text
import qualified Data.Text.Lazy as Lazy

-- | The whole page.
pageText :: Session -> [Figures] -> [Diagnosis] -> [Change] -> Lazy.Text
pageText session figures diagnoses changes =
  "<!DOCTYPE html>\n"
    <> render
      ( element
          "html"
          ["lang" =: "en"]
          [ element "head" [] [element "meta" ["charset" =: "utf-8"] [], element "meta" ["name" =: "viewport", "content" =: "width=device-width"] [], element "title" [] [text (sessionProgram session)], element "style" [] [text stylesheet]],
            element "body" [] [element "main" [] (title : map section (overview : diagnosed ++ compared ++ [details, counts]))]
          ]
      )
  where
    title = element "h1" [] [text (sessionProgram session), element "small" [] [text (sessionDate session <> machine session)]]
    section (heading, children) = element "section" [] (element "h2" [] [text heading] : children)
    overview =
      ( "Time per call",
        [ element "p" [] [element "i" ["class" =: "key alone"] [], text "a process of its own, one dot for each", element "i" ["class" =: "key after"] [], text "after others in one process. Dots of one row should lie together."],
          strips [Strip (accountName a) (map trialEstimate (accountAlone a)) (map trialEstimate (accountAfter a)) | a <- accounts]
        ]
      )
    diagnosed = [("Diagnosis", if null diagnoses then [element "p" [] [text "Nothing was found that distorts these figures."]] else map diagnosisNode diagnoses)]
    compared = [("Since the baseline", [element "p" [] [text (changeText c)] | c <- changes]) | not (null changes)]
    details =
      ( "Samples",
        [ element "p" [] [text "Each dot is a sample: time per call, in the order in which they were taken; each colour is a process. On the right how the samples are distributed."],
          element "div" ["class" =: "facets"] (map facet figures)
        ]
      )
    counts = ("What a call takes", [table figures])
    accounts = map figuresAccount figures

machine :: Session -> Text
machine session = case [trialSurroundings t | a <- sessionAccounts session, t <- trials a] of
  s : _ -> ", " <> plural (surroundingProcessors s) "processor" <> ", " <> (if surroundingCapabilities s == 1 then "1 capability" else Text.pack (show (surroundingCapabilities s)) <> " capabilities")
  [] -> ""

diagnosisNode :: Diagnosis -> Node
diagnosisNode d =
  element
    "div"
    ["class" =: "diagnosis"]
    ( element "h3" [] [text (causeTitle (diagnosisCause d)), element "b" [] [text (extent (diagnosisShare d))]] :
      element "p" ["class" =: "subjects"] [text (Text.intercalate ", " (diagnosisSubjects d))] :
      [element "p" [] [text line] | line <- diagnosisEvidence d]
        ++ [element "p" ["class" =: "change"] [text line] | line <- diagnosisAdvice d]
    )

facet :: Figures -> Node
facet f =
  element
    "div"
    ["class" =: "facet"]
    [ element "h3" [] [text (accountName a)],
      element "p" ["class" =: "figure"] [text (duration m <> " (" <> duration low <> " to " <> duration high <> ")")],
      samplesPlot [map perCall (trialSamples t) | t <- trials a]
    ]
  where
    a = figuresAccount f
    Summary low m high = figuresMedian f

-- | A table with a row for each name and a column for each figure. Columns without any figure are
-- left out.
table :: [Figures] -> Node
table figures = element "div" ["class" =: "wide"] [element "table" [] (element "tr" [] (map (header . fst) columns) : map row figures)]
  where
    header name = element "th" [] [text name]
    columns = ("benchmark", const "") : [(label, cell key) | (key, label) <- labels, any (worth key) figures]
    labels =
      [("PageFaults", "page faults"), ("MajorFaults", "major faults"), ("VoluntarySwitches", "switches, waiting"), ("InvoluntarySwitches", "switches, forced")]
        ++ [("Mmap", "mmap"), ("Munmap", "munmap"), ("BrkGrow", "brk up"), ("BrkTrim", "brk down"), ("Madvise", "madvise")]
        ++ [("GCs", "collections"), ("GCTime", "collecting"), ("Allocated", "allocated"), ("Cycles", "cycles"), ("Instructions", "instructions")]
    found key f = [x | x@(k, _, _) <- perCallFigures (figuresAccount f), k == key]
    worth key f = or [x /= 0 | (_, _, x) <- found key f]
    cell key f = case found key f of
      [(_, figure, x)]
        | x == 0 -> "0"
        | key `elem` ["GCTime", "Allocated"] -> Text.unwords (take 2 (Text.words figure))
        | otherwise -> Text.takeWhile (/= ' ') figure
      _ -> "-"
    row f = element "tr" [] (element "td" [] [text (accountName (figuresAccount f))] : [element "td" [] [text (show' f)] | (_, show') <- drop 1 columns])

stylesheet :: Text
stylesheet =
  Text.unlines
    [ ":root { --ink: #1d2329; --soft: #66707b; --line: #dfe3e8; --band: #f5f7f9; --paper: #fff; --alone: #0f78b8; --after: #e08a00; --bad: #b3341b; --p0: #0f78b8; --p1: #c2447c; --p2: #00735a; --p3: #e08a00; --p4: #7d8791; }",
      "@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ae; --line: #353c44; --band: #20262c; --paper: #181c20; --bad: #ff8a66; } }",
      "body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, 'DejaVu Sans', sans-serif; }",
      "main { max-width: 1040px; margin: 0 auto; padding: 28px 20px 80px; }",
      "h1 { font-size: 27px; margin: 0; } h1 small { font-size: 14px; font-weight: normal; color: var(--soft); margin-left: 14px; }",
      "h2 { font-size: 20px; margin: 44px 0 6px; } h3 { font-size: 15px; margin: 0; } p { margin: 4px 0; max-width: 84ch; }",
      ".key { display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin: 0 6px 0 2px; border: 2px solid var(--alone); background: var(--alone); } .key.after { margin-left: 18px; border-color: var(--after); background: none; }",
      ".diagnosis { border-left: 4px solid var(--bad); padding: 2px 0 4px 14px; margin: 16px 0; } .diagnosis b { color: var(--bad); margin-left: 10px; }",
      ".subjects, .figure { color: var(--soft); font-size: 13px; } .change::before { content: 'Change: '; font-weight: 600; }",
      ".facets { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 18px; margin-top: 12px; }",
      "svg { width: 100%; height: auto; display: block; font: 12px system-ui, 'DejaVu Sans', sans-serif; } svg text { fill: var(--ink); } svg .tick { fill: var(--soft); }",
      "svg .grid { stroke: var(--line); } svg .band { fill: var(--band); } svg .alone { fill: var(--alone); fill-opacity: .75; } svg .after { fill: none; stroke: var(--after); stroke-width: 1.8; }",
      "svg .density { fill: var(--soft); fill-opacity: .18; stroke: var(--soft); }",
      "svg .p0 { fill: var(--p0); } svg .p1 { fill: var(--p1); } svg .p2 { fill: var(--p2); } svg .p3 { fill: var(--p3); } svg .p4 { fill: var(--p4); }",
      ".wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; margin-top: 8px; }",
      "th { text-align: right; color: var(--soft); vertical-align: bottom; } td { text-align: right; white-space: nowrap; } th:first-child, td:first-child { text-align: left; } th, td { padding: 3px 0 3px 16px; border-bottom: 1px solid var(--line); } th:first-child, td:first-child { padding-left: 0; }"
    ]
