-- | Findings about the program, directory or process that the user named.
--
-- The loader's rule decides: the first object in search order that offers a symbol serves it. The
-- program comes first, then preloaded objects, then libraries. So each group of entry points
-- (@GOMP_*@, @__kmpc_*@, @omp_*@) has one winner, and two winners mean two pools of threads.
module Capstan.CLI.Doctor.Subject
  ( subjectFindings,
    winners,
  )
where

import Capstan.CLI.Doctor.Facts
import Capstan.CLI.Doctor.Finding
import Capstan.CLI.Library
import Capstan.CLI.Loader
import Capstan.CLI.OpenMP
import Capstan.CLI.Pool
import Capstan.CLI.Probe
import Capstan.CLI.Program
import Capstan.CLI.Report (plural)
import Data.Char (toUpper)
import Data.Containers.ListUtils (nubOrd)
import Data.List (find, intercalate, isPrefixOf, nub)
import Data.Maybe (fromMaybe, isJust, isNothing, listToMaybe)
import qualified Data.Set as Set
import System.FilePath (takeFileName)

-- | The findings about the subject.
subjectFindings :: Facts -> [Finding]
subjectFindings facts = case factsSubject facts of
  NoSubject -> []
  ProgramSubject program -> programFindings facts program
  DirectorySubject _ objects -> directoryFindings facts objects
  ProcessSubject process -> processFindings facts process

-- | The runtimes that serve the calls of these objects, given in search order.
winners :: [Object] -> [Object]
winners objects =
  nub
    [ winner
      | door <- [callsGomp, callsKmpc, callsApi],
        any (door . objectCalls) objects,
        Just winner <- [follow <$> find (door . objectOffers) objects]
    ]
  where
    -- A file of names has no code: Capstan itself has it.
    follow object
      | objectRuntime object == Just CapstanNames = fromMaybe object (find ((== Just Capstan) . objectRuntime) objects)
      | otherwise = object

describe :: Object -> String
describe object = maybe "" ((<> " ") . familyName) (objectRuntime object) <> "(" <> objectFile object <> ")"

names :: [Object] -> String
names objects = intercalate ", " (map (takeFileName . objectFile) shown) <> more
  where
    (shown, rest) = splitAt 4 objects
    more = if null rest then "" else " and " <> show (length rest) <> " more"

-- A program ----------------------------------------------------------------

programFindings :: Facts -> ProgramFacts -> [Finding]
programFindings facts program =
  privilegeFindings program
    <> case programReach program of
      ReachStatic ->
        [problem "static" (name <> " is linked statically: nothing can be preloaded into it") "Link it without -static"]
      ReachOtherMachine ->
        [problem "other-machine" (name <> " is made for another processor or word size") "Use a program for this machine"]
      ReachOtherLoader loader ->
        [ problem
            "other-loader"
            (name <> " asks for the loader " <> show loader <> ", not for this system's glibc")
            "Capstan serves programs for the C library that it was built with"
        ]
      ReachNoBinary ->
        [problem "no-program" (name <> " is neither a binary nor a script with #!") "Name the interpreter that runs it"]
      Reached listing objects served ->
        missingFindings listing
          <> useFindings objects
          <> (if isJust (programPrivilege program) then [] else takeoverFindings facts objects)
          <> versionFindings listing served
          <> poolFindings objects
          <> laterFindings program objects
  where
    name = programFinal (programFacts program)

privilegeFindings :: ProgramFacts -> [Finding]
privilegeFindings program =
  [ problem
      "privileged"
      (programFinal (programFacts program) <> " is " <> privilegeText how <> ": the loader ignores LD_PRELOAD there")
      "Capstan cannot serve it; let it start an unprivileged program that is served"
    | Just how <- [programPrivilege program]
  ]

missingFindings :: Listing -> [Finding]
missingFindings listing =
  [ problem "library-missing" (library <> " is not found") "Install it, or add its directory to LD_LIBRARY_PATH"
    | (library, Nothing) <- listingLibraries listing
  ]
    <> [ problem "loader-complaint" complaint "The program cannot start as it is"
         | complaint <- nubOrd (listingComplaints listing)
       ]

-- Problems with versions of symbols. The loader checks them as for a real start.
versionFindings :: Listing -> Maybe Listing -> [Finding]
versionFindings alone served =
  [ problem
      "cannot-preload"
      ("with the runtime preloaded the loader says: " <> complaint)
      "Report this, with the output of capstan doctor --json"
    | complaint <- nubOrd (maybe [] listingComplaints served),
      complaint `Set.notMember` Set.fromList (listingComplaints alone)
  ]

-- The runtimes that are loaded, and those that are called.
useFindings :: [Object] -> [Finding]
useFindings objects = case objects of
  program : _
    | objectRuntime program == Just Capstan ->
      [good "linked" "has Capstan linked into it, which serves every library of the process"]
    | partial program -> [mixed program (map snd (runtimes objects))]
  _ -> usedFindings used <> if null behind then idleFindings used objects else map overtaken behind
  where
    used = winners objects
    behind = [object | not (null used), (Capstan, object) <- runtimes objects, object `notElem` used]
    overtaken object =
      problem
        "overtaken"
        (describe object <> " is loaded, but " <> intercalate ", " (map describe used) <> " comes before it and serves the calls")
        withoutGomp

-- Whether an object has only a part of a runtime. The linker then took functions from two runtimes,
-- whose regions and barriers do not know each other.
partial :: Object -> Bool
partial object = isNothing (objectRuntime object) && callsGomp (objectOffers object) && callsGomp (objectCalls object)

mixed :: Object -> [Object] -> Finding
mixed object others =
  problem
    "mixed-runtime"
    ( takeFileName (objectFile object) <> " has one part of an OpenMP runtime linked into it and takes another from "
        <> if null others then "elsewhere" else intercalate ", " (map describe others)
    )
    withoutGomp

withoutGomp :: String
withoutGomp = "Link it without libgomp: no -lgomp, no extra-libraries: gomp"

usedFindings :: [Object] -> [Finding]
usedFindings used = case used of
  [] -> []
  [one] -> [good "one-runtime" ("uses one OpenMP runtime: " <> describe one)]
  several ->
    [ problem
        "several-runtimes"
        ("uses " <> show (length several) <> " OpenMP runtimes: " <> intercalate ", " (map describe several))
        "Each has threads of its own, and they fight for the processors"
    ]

idleFindings :: [Object] -> [Object] -> [Finding]
idleFindings used objects =
  [ Finding Note "idle-runtime" (describe object <> " is loaded too, but nothing that is loaded at the start calls it") Nothing
    | (_, object) <- runtimes objects,
      object `notElem` used
  ]

-- Libraries that the program may open while it runs.
laterFindings :: ProgramFacts -> [Object] -> [Finding]
laterFindings program objects
  | not (null (programScripts facts)) =
    [ note
        "script"
        (programFile facts <> " is a script: its interpreter opens libraries while it runs")
        "Look at the directory of the package that computes, or at the running process with --pid"
    ]
  | null (runtimes objects) && null (callers objects) =
    [ note
        "no-openmp"
        (programFinal facts <> " loads no OpenMP runtime at its start")
        "It may open libraries that do: look again with --pid while it runs"
    ]
  | otherwise = []
  where
    facts = programFacts program

-- The effect of capstan run --------------------------------------------------

-- The preloaded runtime stands behind the program itself and before all else.
takeoverFindings :: Facts -> [Object] -> [Finding]
takeoverFindings facts objects = case (asking, factsLibrary facts) of
  ([], _) -> []
  (_, Left _) -> []
  (_, Right library)
    | all isCapstan used -> [good "served" ("capstan run serves the calls of " <> names asking)]
    | any isCapstan used ->
      [ problem
          "partly-served"
          ("under capstan run " <> names left <> " would stay on " <> intercalate ", " (map describe others))
          (advice <> ", so that one runtime serves all")
      ]
    | otherwise ->
      [ note
          "not-served"
          ("capstan run would not serve it: " <> names left <> " stays on " <> intercalate ", " (map describe others))
          advice
      ]
    where
      ours =
        Object
          { objectFile = libraryRuntime library,
            objectRuntime = Just Capstan,
            objectOffers = factsOffers facts,
            objectCalls = Calls False False False,
            objectSymbolic = False,
            objectPool = Nothing
          }
      used = winners (inside <> [ours] <> outside)
      others = filter (not . isCapstan) used
      left = [object | object <- asking, any (wantedFrom object) others]
  where
    asking = callers objects
    -- Objects whose runtime is part of the program, or binds to its own symbols.
    (inside, outside) = (filter selfish objects, filter (not . selfish) objects)
    selfish object = isJust (objectRuntime object) && (objectSymbolic object || Just object == listToMaybe objects)
    wantedFrom object other =
      or [door (objectCalls object) && door (objectOffers other) | door <- [callsGomp, callsKmpc]]
    advice = "Use a build that takes its OpenMP runtime from a shared library"

-- Pools beside OpenMP's ------------------------------------------------------

poolFindings :: [Object] -> [Finding]
poolFindings objects = [poolFinding object pool | (pool, object) <- pools objects]

poolFinding :: Object -> Pool -> Finding
poolFinding object pool = case poolTelling pool of
  Told -> good "pool-told" (brings <> "; capstan run tells it to use Capstan's threads")
  Asks version -> good "pool-asks" (brings <> "; from " <> version <> " on it asks Capstan how many may run, under capstan run")
  TooOld version ->
    note
      "pool-own"
      (brings <> ", and is too old to be told to use Capstan's threads")
      ("Use " <> poolName pool <> " " <> version <> " or newer" <> maybe "" (\variable -> ", or " <> fewer variable) (poolVariable pool))
  Never ->
    Finding
      Note
      "pool-own"
      (brings <> ", and cannot be told to use another's")
      (capital . fewer <$> poolVariable pool)
  where
    capital text = case text of
      first : rest -> toUpper first : rest
      [] -> []
    brings = takeFileName (objectFile object) <> " brings " <> poolName pool <> "'s own threads"
    fewer variable = "set " <> variable <> "=1 where its calls come from parallel regions"

-- A directory --------------------------------------------------------------

directoryFindings :: Facts -> [Object] -> [Finding]
directoryFindings facts objects =
  case runtimes objects of
    []
      | null (callers objects) -> [note "no-openmp" "no library there has to do with OpenMP" "Look at a running process with --pid"]
      | otherwise -> [good "no-runtime" "loads no OpenMP runtime, but calls one that must be there"]
    [(_, one)] -> [good "one-runtime" ("loads one OpenMP runtime: " <> describe one)]
    several ->
      [ problem
          "several-runtimes"
          ("loads " <> show (length several) <> " OpenMP runtimes: " <> intercalate ", " (map (describe . snd) several))
          "Each has threads of its own, and they fight for the processors"
      ]
    <> [ Finding
           Note
           "bundled"
           (takeFileName (objectFile object) <> " is a renamed copy that came with the package; it is loaded beside the system's")
           Nothing
         | (Gnu, object) <- runtimes objects,
           "libgomp-" `isPrefixOf` takeFileName (objectFile object)
       ]
    <> takeoverFindings facts objects
    <> poolFindings objects

-- A process ----------------------------------------------------------------

processFindings :: Facts -> ProcessFacts -> [Finding]
processFindings facts process =
  case (ours, others) of
    ([], []) -> [note "no-openmp" "no OpenMP runtime is loaded at the moment" "Look again when it has begun to compute"]
    ([], [one]) -> good "one-runtime" ("has loaded one OpenMP runtime: " <> describe one) : takeoverFindings facts objects
    ([], several) ->
      problem
        "several-runtimes"
        ("has loaded " <> show (length several) <> " OpenMP runtimes: " <> intercalate ", " (map describe several))
        "Each has threads of its own, and they fight for the processors" :
      takeoverFindings facts objects
    _ ->
      good "served" ("Capstan serves it: " <> intercalate ", " (map describe ours)) :
        [ problem
            "partly-served"
            (names foreigners <> " calls " <> intercalate ", " (map describe others) <> " besides")
            "Use a build that takes its OpenMP runtime from a shared library"
          | not (null others),
            not (null foreigners)
        ]
    <> [mixed object (map snd (runtimes objects)) | object <- objects, partial object]
    <> poolFindings objects
    <> [ note
           "crowded"
           (show busy <> " threads are in regions, on " <> plural processors "processor" "processors")
           "Set OMP_NUM_THREADS. If the program itself asks for a team of that size, set OMP_THREAD_LIMIT or OMP_DYNAMIC=true"
         | Just (busy, processors) <- [processBusy process],
           busy > processors
       ]
    <> [ note
           "many-threads"
           (plural (processThreads process) "thread" "threads" <> " on " <> plural available "processor" "processors")
           "Several pools, or one for each thread that calls? capstan run keeps one for all"
         | null ours,
           Right settings <- [factsSettings facts],
           let available = machineAvailable (settingsMachine settings),
           processThreads process > 4 * available + 4
       ]
  where
    objects = processObjects process
    (ours, others) =
      ( [object | (Capstan, object) <- runtimes objects],
        [object | (_, object) <- runtimes objects, not (isCapstan object)]
      )
    foreigners =
      [ object
        | object <- callers objects,
          callsKmpc (objectCalls object),
          not (any (callsKmpc . objectOffers) ours)
      ]
