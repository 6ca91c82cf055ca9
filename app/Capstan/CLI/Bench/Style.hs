{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Style
-- Description : The style sheet of the report, for light and dark screens.
module Capstan.CLI.Bench.Style
  ( stylesheet,
  )
where

import Data.Text (Text)
import qualified Data.Text as Text

-- | Each runtime has the same colour everywhere. Readers who do not see red or green can
-- distinguish the colours (after M. Okabe and K. Ito).
stylesheet :: Text
stylesheet =
  Text.unlines
    [ ":root { --ink: #1d2329; --soft: #66707b; --line: #dfe3e8; --band: #f5f7f9; --paper: #ffffff; --good: #00735a; --bad: #b3341b; }",
      "@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ae; --line: #353c44; --band: #20262c; --paper: #181c20; --good: #3fc79f; --bad: #ff8a66; } }",
      "body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, 'DejaVu Sans', sans-serif; }",
      "main { max-width: 1040px; margin: 0 auto; padding: 32px 20px 80px; }",
      "h1 { font-size: 28px; margin: 0 0 8px; } h2 { font-size: 21px; margin: 56px 0 4px; } h3 { font-size: 15px; margin: 28px 0 6px; }",
      "h2 small { font-weight: normal; color: var(--soft); margin-left: 12px; font-size: 15px; }",
      "p { margin: 6px 0; max-width: 76ch; } .when, .contents { color: var(--soft); } a { color: inherit; margin-right: 8px; }",
      ".warning { color: var(--bad); font-weight: 600; }",
      "code { font-size: 12px; color: var(--soft); }",
      ".legend { list-style: none; padding: 0; margin: 14px 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(330px, 1fr)); gap: 4px 20px; }",
      ".legend li::before { content: ''; display: inline-block; width: 11px; height: 11px; border-radius: 50%; margin-right: 8px; background: var(--c); }",
      ".libgomp { --c: #7d8791; } .libomp { --c: #0f78b8; } .pthread { --c: #e08a00; } .rts { --c: #c2447c; } .ours { --c: #c2447c; } .central { --c: #7d8791; }",
      ".bare { --c: #7d8791; } .libuv { --c: #0f78b8; } .libevent { --c: #56a5d8; } .ghc { --c: #00735a; } .c { --c: #e08a00; } .haskell { --c: #c2447c; } .timed { --c: #a05a00; }",
      ".plot { width: 100%; height: auto; display: block; font: 12px system-ui, 'DejaVu Sans', sans-serif; }",
      ".plot text { fill: var(--ink); } .plot .tick, .plot .side, .plot .unity { fill: var(--soft); } .plot .title { font-weight: 600; }",
      ".plot .band { fill: var(--band); } .plot .gap { fill: none; } .plot .grid { stroke: var(--line); } .plot .one { stroke: var(--soft); stroke-width: 1.6; }",
      ".plot g[class] circle { fill: var(--c); stroke: var(--paper); stroke-width: .8; } .plot .whisker { stroke: var(--c); stroke-width: 2; stroke-linecap: round; opacity: .55; }",
      ".plot polyline { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; } .plot .name { fill: var(--c); }",
      ".plot g.published polyline { stroke-dasharray: 5 4; } .plot g.published circle { fill: var(--paper); stroke: var(--c); stroke-width: 1.6; }",
      ".facets.wide { grid-template-columns: repeat(auto-fill, minmax(430px, 1fr)); }",
      ".facets { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 14px; }",
      "table { border-collapse: collapse; font-size: 13px; margin: 10px 0; font-variant-numeric: tabular-nums; }",
      "th { text-align: left; color: var(--soft); font-weight: 600; } th, td { padding: 3px 14px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }",
      ".met { color: var(--good); } .short { color: var(--bad); font-weight: 600; } .unknown { color: var(--soft); }",
      ".published td:first-child { white-space: nowrap; } .published td[class] { font-weight: 600; color: var(--c); }",
      "details { margin: 10px 0; } summary { cursor: pointer; color: var(--soft); }",
      "@media print { body { font-size: 11px; } details { display: none; } }"
    ]
