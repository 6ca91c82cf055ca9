{-# LANGUAGE OverloadedStrings #-}

-- | The doctor's facts and findings, for people and for programs.
module Capstan.CLI.Doctor.Render
  ( doctorText,
    doctorJson,
  )
where

import Capstan.Bench.Visible (visible)
import Capstan.CLI.Doctor.Facts
import Capstan.CLI.Doctor.Finding (Finding (..), Severity (..), healthy)
import Capstan.CLI.Library
import Capstan.CLI.OpenMP
import Capstan.CLI.Pool (Pool (..))
import Capstan.CLI.Probe
import Capstan.CLI.Program
import Capstan.CLI.Report
import Capstan.CLI.Style (Style, bad, caution, faint, heading)
import qualified Capstan.CLI.Style as Style
import Capstan.CLI.Version (version)
import Data.Aeson (Encoding, pairs, toEncoding, (.=))
import qualified Data.Aeson.Encoding as E
import Data.List (intercalate)
import qualified Data.Map.Strict as M
import System.FilePath (takeFileName)
import Text.Printf (printf)

-- | The facts and findings as text.
doctorText :: Style -> Facts -> [Finding] -> String
doctorText style facts findings = unlines (map row (factRows facts) <> [""] <> concatMap finding findings)
  where
    row (label, text) = printf "%s %s" (heading style (printf "%-11s" (label :: String))) (visible text)
    finding f = (mark (findingSeverity f) <> " " <> visible (findingText f)) : [replicate 8 ' ' <> faint style (visible advice) | Just advice <- [findingAdvice f]]
    mark severity = case severity of
      Good -> Style.good style "ok     "
      Note -> caution style "note   "
      Problem -> bad style "problem"

factRows :: Facts -> [(String, String)]
factRows facts =
  subjectRows (factsSubject facts)
    <> [("Processors", processorsText facts)]
    <> [("Limits", limitsText facts)]
    <> [("Runtime", "Capstan " <> version <> ", " <> libraryRuntime library) | Right library <- [factsLibrary facts]]
    <> [ ("Haskell", "GHC " <> ghc <> ", " <> plural (reportCapabilities report) "Capability" "Capabilities")
         | Just report <- [factsTrial facts >>= trialReport],
           Just ghc <- [reportGhc report]
       ]

subjectRows :: Subject -> [(String, String)]
subjectRows subject = case subject of
  NoSubject -> []
  ProgramSubject program ->
    let p = programFacts program
     in ("Program", intercalate " -> " (programScripts p <> [programFinal p])) :
        case programReach program of
          Reached _ objects _ -> objectRows objects
          _ -> []
  DirectorySubject directory objects -> ("Directory", directory) : objectRows objects
  ProcessSubject process ->
    [("Process", printf "%d, %s, %s" (processId process) (processProgram process) (plural (processThreads process) "thread" "threads"))]
      <> objectRows (processObjects process)
      <> [("Variables", unwords [name <> "=" <> value | (name, value) <- processVariables process]) | not (null (processVariables process))]

objectRows :: [Object] -> [(String, String)]
objectRows objects =
  [("OpenMP", printf "%s, %s" (familyName family) (objectFile object)) | (family, object) <- runtimes objects]
    <> [("Called by", takeFileName (objectFile object) <> " (" <> callsText (objectCalls object) <> ")") | object <- shown]
    <> [("", "and " <> show (length rest) <> " more") | not (null rest)]
    <> [("Pool", printf "%s, %s" (poolName pool) (objectFile object)) | (pool, object) <- pools objects]
  where
    (shown, rest) = splitAt 6 (callers objects)

processorsText :: Facts -> String
processorsText facts = intercalate ", " (online <> measured)
  where
    online = [show n <> " online" | Just n <- [factsOnline facts]]
    measured = case factsSettings facts of
      Left _ -> []
      Right settings ->
        let machine = settingsMachine settings
         in [ show (machineAffinity machine) <> " in the affinity mask",
              case machineQuota machine of
                0 -> "no cgroup quota"
                n -> "a cgroup quota worth " <> show n
            ]

limitsText :: Facts -> String
limitsText facts =
  intercalate
    ", "
    [ shown "Max processes" show <> " processes and threads",
      "address space " <> shown "Max address space" mebibytes,
      "stack " <> shown "Max stack size" mebibytes
    ]
  where
    shown name format = case lookup name (factsLimits facts) of
      Just (Limited n) -> format n
      Just Unlimited -> "unlimited"
      Nothing -> "unknown"
    mebibytes n = show (n `div` 1048576) <> " MiB"

-- | The facts and findings as one JSON object.
doctorJson :: Facts -> [Finding] -> Encoding
doctorJson facts findings =
  pairs $
    mconcat
      [ "capstan" .= version,
        E.pair "subject" (subjectJson (factsSubject facts)),
        E.pair "processors" (processorsJson facts),
        E.pair "limits" . pairs $
          limit "processes" "Max processes" <> limit "address_space" "Max address space" <> limit "stack" "Max stack size",
        "library" .= either (const Nothing) (Just . libraryRuntime) (factsLibrary facts),
        "substrate" .= fmap reportSubstrate report,
        "ghc" .= (report >>= reportGhc),
        "capabilities" .= fmap reportCapabilities report,
        E.pair "findings" (E.list findingJson findings),
        "healthy" .= healthy findings
      ]
  where
    report = factsTrial facts >>= trialReport
    limit key name = case lookup name (factsLimits facts) of
      Just (Limited n) -> key .= n
      _ -> E.pair key E.null_

processorsJson :: Facts -> Encoding
processorsJson facts =
  pairs $
    "online" .= factsOnline facts
      <> case factsSettings facts of
        Left _ -> mempty
        Right settings ->
          let machine = settingsMachine settings
           in "affinity" .= machineAffinity machine
                <> "quota" .= (if machineQuota machine == 0 then Nothing else Just (machineQuota machine))
                <> "available" .= machineAvailable machine

subjectJson :: Subject -> Encoding
subjectJson subject = case subject of
  NoSubject -> E.null_
  ProgramSubject program ->
    let p = programFacts program
     in pairs $
          mconcat
            [ "kind" .= ("program" :: String),
              "file" .= programFile p,
              "scripts" .= programScripts p,
              "final" .= programFinal p,
              "privilege" .= fmap privilegeText (programPrivilege program),
              "reach" .= reachName (programReach program),
              E.pair "objects" (E.list objectJson (reachObjects (programReach program)))
            ]
  DirectorySubject directory objects ->
    pairs ("kind" .= ("directory" :: String) <> "file" .= directory <> E.pair "objects" (E.list objectJson objects))
  ProcessSubject process ->
    pairs $
      mconcat
        [ "kind" .= ("process" :: String),
          "pid" .= processId process,
          "file" .= processProgram process,
          "threads" .= processThreads process,
          E.pair "variables" (toEncoding (M.fromList (processVariables process))),
          E.pair "objects" (E.list objectJson (processObjects process))
        ]

reachName :: Reach -> String
reachName reach = case reach of
  ReachStatic -> "static"
  ReachOtherMachine -> "other machine"
  ReachOtherLoader _ -> "other loader"
  ReachNoBinary -> "no binary"
  Reached {} -> "dynamic"

reachObjects :: Reach -> [Object]
reachObjects reach = case reach of
  Reached _ objects _ -> objects
  _ -> []

objectJson :: Object -> Encoding
objectJson object =
  pairs $
    mconcat
      [ "file" .= objectFile object,
        "runtime" .= fmap familyName (objectRuntime object),
        "calls" .= [name | (True, name) <- doors],
        "symbolic" .= objectSymbolic object,
        "pool" .= fmap poolName (objectPool object)
      ]
  where
    doors = zip [callsGomp calls, callsKmpc calls, callsApi calls] ["GOMP" :: String, "kmpc", "omp"]
    calls = objectCalls object

findingJson :: Finding -> Encoding
findingJson finding =
  pairs $
    mconcat
      [ "severity" .= severity,
        "name" .= findingName finding,
        "text" .= findingText finding,
        "advice" .= findingAdvice finding
      ]
  where
    severity = case findingSeverity finding of
      Good -> "ok" :: String
      Note -> "note"
      Problem -> "problem"
