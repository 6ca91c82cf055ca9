-- | Derives findings from facts: good news, notes, and problems with advice. The function is pure.
module Capstan.CLI.Doctor.Diagnose (diagnose) where

import Capstan.CLI.Doctor.Facts
import Capstan.CLI.Doctor.Finding
import Capstan.CLI.Doctor.Subject (subjectFindings)
import Capstan.CLI.Library
import Capstan.CLI.Probe
import Capstan.CLI.Report
import Data.Maybe (fromMaybe, isJust)
import System.FilePath (takeFileName)
import Text.Read (readMaybe)

-- | All findings; the findings about the subject come first.
diagnose :: Facts -> [Finding]
diagnose facts = subjectFindings facts <> installation facts <> settingFindings facts <> machineFindings facts

-- The installation --------------------------------------------------------

installation :: Facts -> [Finding]
installation facts = case factsLibrary facts of
  Left why -> [problem "runtime-missing" why "Install Capstan completely, or build it with make"]
  Right library -> case factsTrial facts of
    Nothing -> [problem "runtime-unusable" ("the runtime cannot be preloaded from " <> libraryRuntime library) "Install Capstan in a directory without blanks, colons and $"]
    Just trial -> case (trialFailure trial, trialReport trial) of
      (Just why, _) -> [problem "region-fails" why "Report this, with the output of capstan doctor --json"]
      (Nothing, Just report)
        | reportSubstrate report == "rts" ->
          [ good
              "rts-starts"
              ( "the rts substrate starts: GHC " <> fromMaybe "?" (reportGhc report) <> ", "
                  <> plural (reportCapabilities report) "Capability" "Capabilities"
              )
          ]
        | otherwise ->
          [ problem
              "rts-does-not-start"
              (takeFileName (librarySubstrate library) <> " does not serve" <> maybe "" (": " <>) (reportNote report))
              "Programs run on plain threads instead. Build or install it with the GHC packages that it was made with"
          ]
      (Nothing, Nothing) -> []

-- Settings -----------------------------------------------------------------

settingFindings :: Facts -> [Finding]
settingFindings facts = case factsSettings facts of
  Left why | isJust (factsTrial facts) -> [problem "settings-unknown" why "Report this, with the output of capstan doctor --json"]
  Left _ -> []
  Right settings -> concatMap setting (settingsList settings) <> map general (settingsWarnings settings)
  where
    setting s
      | settingRejected s =
        [ problem
            "setting-refused"
            (settingName s <> " is malformed" <> concatMap (": " <>) (take 1 (settingWarnings s)))
            ("Correct or unset it; " <> shown (settingValue s) <> " is in effect")
        ]
      | otherwise = map general (settingWarnings s)
    shown value = if null value then "the default" else value
    general text = note "setting-warning" text "See capstan env"

-- The machine --------------------------------------------------------------

machineFindings :: Facts -> [Finding]
machineFindings facts = case factsSettings facts of
  Left _ -> limitFindings facts 1
  Right settings ->
    let machine = settingsMachine settings
        available = machineAvailable machine
     in [ note
            "quota"
            ( "the cgroup quota pays for " <> show (machineQuota machine) <> " of " <> show (machineAffinity machine)
                <> " processors"
            )
            ( "Capstan starts as many threads as that; other OpenMP runtimes start " <> show (machineAffinity machine)
                <> " and are throttled: set OMP_NUM_THREADS="
                <> show available
                <> " for them"
            )
          | machineQuota machine > 0 && machineQuota machine < machineAffinity machine
        ]
          <> [ note
                 "oversubscribed"
                 ("OMP_NUM_THREADS asks for " <> show threads <> " threads on " <> plural available "processor" "processors")
                 "Unset it, unless the program waits more than it computes"
               | Just threads <- [requestedThreads facts],
                 threads > available
             ]
          <> limitFindings facts available

requestedThreads :: Facts -> Maybe Int
requestedThreads facts = do
  given <- lookup "OMP_NUM_THREADS" (factsEnvironment facts)
  readMaybe (takeWhile (/= ',') given)

limitFindings :: Facts -> Int -> [Finding]
limitFindings facts available =
  [ problem
      "process-limit"
      ("only " <> show n <> " processes and threads are allowed (RLIMIT_NPROC)")
      "Raise it with ulimit -u; Capstan makes smaller teams meanwhile, other runtimes end the program"
    | Just (Limited n) <- [lookup "Max processes" (factsLimits facts)],
      n < toInteger (2 * available + 8)
  ]
    <> [ note
           "address-space-limit"
           ("the address space is limited to " <> mebibytes n <> " (RLIMIT_AS)")
           ( "Each thread's stack takes " <> maybe "megabytes" mebibytes stack
               <> " of it: raise it with ulimit -v, or set a smaller OMP_STACKSIZE"
           )
         | Just (Limited n) <- [lookup "Max address space" (factsLimits facts)]
       ]
    <> [ note
           "no-proc"
           "the limits of this process are not known: /proc is not mounted, or does not show them"
           "Mount /proc; without it nothing can be said of limits, and no process be looked into"
         | null (factsLimits facts)
       ]
  where
    stack = case lookup "Max stack size" (factsLimits facts) of
      Just (Limited n) -> Just n
      _ -> Nothing
    mebibytes n = show (n `div` 1048576) <> " MiB"
