{-# LANGUAGE OverloadedStrings #-}

-- | The diagnosis is a pure function: it finds a distortion that is built in, and no other.
module DiagnoseTests (tests) where

import Capstan.Bench.Baseline
import Capstan.Bench.Counters
import Capstan.Bench.Diagnose
import Capstan.Bench.Evidence
import Capstan.Bench.Statistics (regression)
import Criterion.Main.Options (defaultConfig)
import Criterion.Measurement.Types (Measured (..))
import Criterion.Types (Config (..), Regression (..))
import qualified Data.Map as Map
import qualified Data.Text as Text
import Statistics.Types (estPoint)
import Synthetic
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

tests :: TestTree
tests =
  testGroup
    "diagnosis"
    [ testGroup "a distortion is found" [testProperty (Text.unpack (causeTitle cause)) (found cause) | cause <- [minBound .. maxBound]],
      testProperty "clean benchmarks get none" (forAllNoise $ \noise -> diagnose [clean noise] === []),
      testProperty "clean repeats get none" (forAllNoise $ \noise -> diagnose [cleanWith ("copy " ++ show i) 2e-5 (drop (11 * i) noise) | i <- [1 .. 9 :: Int]] === []),
      testProperty "repeats of different length are no repeats" (forAllNoise $ \noise -> diagnose [cleanWith "small" 1e-6 noise, cleanWith "large" 1e-3 noise] === []),
      testProperty "each says what to change, and shows numbers" (forAllNoise $ \noise -> conjoin [explained d | (_, make) <- distortions, d <- diagnose (make noise)]),
      testProperty "a clean neighbour is not accused" (forAllNoise $ \noise -> conjoin [counterexample (show cause) ("neighbour" `notElem` concatMap diagnosisSubjects (diagnose (cleanWith "neighbour" 3e-5 noise : make noise))) | (cause, make) <- distortions]),
      testProperty "counts alone do not accuse: cheap faults are none" (forAllNoise $ \noise -> diagnose (map cheap (distorted PageFaults noise)) === []),
      testProperty "the order of benchmarks does not matter" (forAllNoise $ \noise -> let as = concatMap (\(_, make) -> make noise) distortions in map diagnosisCause (diagnose as) === map diagnosisCause (diagnose (reverse as))),
      testCase "other work on the machine hides an order effect" othersHideOrder,
      testCase "but not one that is counted" countedOrders,
      testCase "nor what is a share of the work" waitingIsNoWork,
      testProperty "what the first call evaluates is told" (forAllNoise evaluatedOnce),
      testProperty "but not what each call allocates" (forAllNoise allocatedAlways),
      testProperty "times near the clock's resolution accuse no order" (forAllNoise $ \noise -> map diagnosisCause (diagnose [onTrials (\t -> t {trialPerRun = True, trialFloor = Just 2e-5}) a | a <- distorted OrderEffect noise]) === [TimerResolution]),
      testCase "what waits between runs that are timed one by one is not short of cores" perRunWaits,
      testCase "and is no frequency of the processor" othersAreNoFrequency,
      testProperty "as many rounds as one likes do not hide an order effect" (forAllNoise manyRounds),
      testCase "but not that repeats disagree in processor time" othersShowDisagreement,
      testProperty "a processor of two speeds does not hide that repeats disagree" (forAllNoise twoSpeeds),
      testCase "what waits for its own threads accuses nobody" ownThreads,
      testProperty "threads that end with their call are too many where they fill the cores" (forAllNoise endedThreads),
      testProperty "a disturbed process does not testify" (forAllNoise aside),
      testProperty "at equal speed a slower processor makes no difference" (forAllNoise equalSpeed),
      testCase "where all is disturbed, all of it is kept" allDisturbed,
      testProperty "our estimate and criterion's regression agree" (withMaxSuccess 20 (forAllNoise estimates)),
      testCase "families are names that differ in digits at the end" $ map family ["copy 1", "copy 12", "copy", "1", "a1b"] @?= [Just "copy ", Just "copy ", Nothing, Just "", Nothing],
      testProperty "a baseline: the same is the same, twice as slow is slower" baseline
    ]

forAllNoise :: Testable p => (Noise -> p) -> Property
forAllNoise = forAllBlind noises

-- | The cause is found, and no other cause except those that belong to it.
found :: Cause -> Property
found cause = forAllNoise $ \noise ->
  let causes = map diagnosisCause (diagnose (distorted cause noise))
   in counterexample (show causes) (cause `elem` causes && all (`elem` cause : together cause) causes)
  where
    together LateFinalisers = [PageFaults]
    together _ = []

explained :: Diagnosis -> Property
explained d =
  counterexample (show d) $
    not (null (diagnosisAdvice d)) && not (null (diagnosisEvidence d)) && not (null (diagnosisSubjects d)) && any (Text.any (`elem` ['0' .. '9'])) (diagnosisEvidence d)

cheap :: Account -> Account
cheap a = a {accountAlone = map lower (accountAlone a), accountAfter = map lower (accountAfter a)}
  where
    lower t = t {trialSurroundings = (trialSurroundings t) {surroundingCosts = (surroundingCosts (trialSurroundings t)) {faultCost = 1e-8}}}

othersHideOrder :: Assertion
othersHideOrder = do
  let noise = repeat 1
      crowd = distorted Oversubscription noise
      order = distorted OrderEffect noise
      waiting = map (onSamples (\x -> x {sampleReading = (sampleReading x) {coreWait = Just 0.004}})) order
  map diagnosisCause (diagnose order) @?= [OrderEffect]
  map diagnosisCause (diagnose (crowd ++ waiting)) @?= [Oversubscription]
  -- A shared core would explain a third of the effect; it does not explain a slowdown by four.
  let much = [a {accountAfter = map (slowed 1 4) (accountAfter a)} | a <- waiting]
  map diagnosisCause (diagnose (crowd ++ much)) @?= [Oversubscription, OrderEffect]
  -- A benchmark that had its core all the time is not excused by another that had none.
  map diagnosisCause (diagnose (crowd ++ order)) @?= [Oversubscription, OrderEffect]

-- | In one order of three a call after others takes no page faults. Other work makes all times
-- uneven.
countedOrders :: Assertion
countedOrders = do
  let crowd = distorted Oversubscription (repeat 1)
      uneven a = a {accountAlone = zipWith ($) [slowed 1 2, slowed 1 1.1, slowed 1 3] (accountAlone a), accountAfter = zipWith ($) [slowed 1 1.2, slowed 1 0.9, slowed 1 2] (accountAfter a)}
      faulting n = onSamples (\x -> x {sampleReading = (sampleReading x) {minorFaults = Just n}})
      half = [b {accountName = "half", accountAfter = take 2 (accountAfter b) ++ drop 2 (accountAfter (faulting 0 b))} | a <- crowd, let b = faulting 100000 (uneven a)]
      same = [(uneven a) {accountName = "same"} | a <- crowd]
      told = diagnose (half ++ same)
  [diagnosisSubjects d | d <- told, diagnosisCause d == OrderEffect] @?= [["half"]]
  assertBool (show told) (or [any ("100 page faults" `Text.isInfixOf`) (diagnosisEvidence d) | d <- told, diagnosisCause d == OrderEffect])

-- | For four fifths of the time a process waits for its core. Page faults take a fifth of the
-- remaining time.
waitingIsNoWork :: Assertion
waitingIsNoWork = do
  let late = onSamples (\x -> x {sampleReading = (sampleReading x) {minorFaults = Just 20000, coreWait = Just 0.2}, sampleMeasured = (sampleMeasured x) {measTime = 5 * sampleTime x}})
  filter (== PageFaults) (map diagnosisCause (diagnose [late (clean (repeat 1))])) @?= [PageFaults]

evaluatedOnce, allocatedAlways :: Noise -> Property
evaluatedOnce noise = map diagnosisCause (diagnose [firstAllocates 6e7 (clean noise)]) === [FirstTouch]
allocatedAlways noise = diagnose [onSamples (\x -> x {sampleMeasured = (sampleMeasured x) {measAllocated = 60000000 * measIters (sampleMeasured x)}}) (firstAllocates 6e7 (clean noise))] === []

-- | The first call takes a twentieth of a second, and touches exactly the pages that it allocates.
firstAllocates :: Double -> Account -> Account
firstAllocates size = onTrials $ \t -> t {trialFirst = Sample (sampleMeasured (trialFirst t)) {measTime = 0.05, measCpuTime = 0.05, measAllocated = round size} (sampleReading (trialFirst t)) {minorFaults = Just (size / 4096)}}

-- | Between runs that are timed one by one a process may wait for any time.
perRunWaits :: Assertion
perRunWaits = do
  let apart' a = a {accountAlone = map each (accountAlone a), accountAfter = map each (accountAfter a)}
      each t = t {trialPerRun = True, trialFloor = Just 1e-6}
  map diagnosisCause (diagnose (map apart' (distorted Oversubscription (repeat 1)))) @?= []

-- | Other programs took the cores of one process of three: the diagnosis does not blame the
-- processor's frequency.
othersAreNoFrequency :: Assertion
othersAreNoFrequency = do
  let uneven = [a {accountAlone = zipWith ($) [id, id, slowed 1.2 3] (accountAlone a)} | a <- distorted Oversubscription (repeat 1)]
      waited = map (onSamples (\x -> x {sampleMeasured = (sampleMeasured x) {measCpuTime = 0.05}})) uneven
  map diagnosisCause (diagnose waited) @?= [Oversubscription]

-- | An effect of a third is reported with three processes and with thirty, and one disturbed
-- process of thirty does not hide it.
manyRounds :: Noise -> Property
manyRounds noise = conjoin [map diagnosisCause (diagnose [pair rounds]) === [OrderEffect] | rounds <- [3, 6, 10, 30]]
  where
    pair rounds = let a = cleanWith "copy" 2e-5 noise in a {accountAlone = held (take rounds (cycle (accountAlone a))), accountAfter = take rounds (cycle (map (slowed 1 1.35) (accountAfter a)))}
    held ts
      | length ts < 6 = ts
      | otherwise = map (slowed 1 1.5) (take 1 ts) ++ drop 1 ts

onSamples :: (Sample -> Sample) -> Account -> Account
onSamples f = onTrials (\t -> t {trialSamples = map f (trialSamples t)})

onTrials :: (Trial -> Trial) -> Account -> Account
onTrials f a = a {accountAlone = map f (accountAlone a), accountAfter = map f (accountAfter a)}

-- | Waiting makes one of two repeats look slower; the other two repeats differ by themselves.
othersShowDisagreement :: Assertion
othersShowDisagreement = do
  let noise = repeat 1
      waiting name factor a = a {accountName = name, accountAlone = map (late factor) (accountAlone a), accountAfter = map (late factor) (accountAfter a)}
      late factor t = t {trialSamples = [s {sampleMeasured = (sampleMeasured s) {measTime = factor * sampleTime s}} | s <- trialSamples t]}
      crowd = distorted Oversubscription noise
      alike = [waiting "alike 1" 1 (clean noise), waiting "alike 2" 1.6 (clean noise)]
  map diagnosisCause (diagnose alike) @?= [Disagreement]
  map diagnosisCause (diagnose (crowd ++ alike)) @?= [Oversubscription]
  map diagnosisCause (diagnose (crowd ++ distorted Disagreement noise)) @?= [Oversubscription, Disagreement]

-- | A benchmark whose own threads fill the cores does not hide the findings about another
-- benchmark.
ownThreads :: Assertion
ownThreads = do
  let noise = repeat 1
      order = distorted OrderEffect noise
      crowded = [(fillingCores a) {accountName = "crowded"} | a <- distorted Oversubscription noise]
  map diagnosisCause (diagnose (crowded ++ order)) @?= [Oversubscription, OrderEffect]

-- | The benchmark's threads fill two cores.
fillingCores :: Account -> Account
fillingCores = onSamples (\s -> s {sampleMeasured = (sampleMeasured s) {measCpuTime = 2 * sampleTime s}})

-- | Threads that have ended took their waiting times with them. Two threads have a core each. If
-- eight threads are hardly ever suspended, most of them sleep.
endedThreads :: Noise -> Property
endedThreads noise = conjoin [map diagnosisCause (diagnose [made 8 20]) === [Oversubscription], diagnose [made 2 20] === [], diagnose [made 8 1] === [], diagnose [sharing] === []]
  where
    made n switched = (filling switched) {accountWatched = (\w -> w {watchedThreads = n}) <$> accountWatched (clean noise)}
    filling switched = fillingCores (onSamples (\s -> s {sampleReading = (sampleReading s) {involuntarySwitches = Just switched}}) (clean noise))
    -- Other programs have half of the cores, so the diagnosis cannot know how the threads would use
    -- them.
    sharing = onSamples (\s -> s {sampleMeasured = (sampleMeasured s) {measCpuTime = sampleTime s}}) (made 8 20)

-- | One process of three ran on a core that another guest used too. Additions took twice as long
-- there, and the benchmark two and a half times.
aside :: Noise -> Property
aside noise =
  let a = cleanWith "copy" 2e-5 noise
      hit = a {accountAlone = take 2 (accountAlone a) ++ map (slowed 2 2.5) (drop 2 (accountAlone a))}
      others = [cleanWith "copy 1" 2e-5 (drop 9 noise), hit {accountName = "copy 2"}]
   in conjoin
        [ map (length . accountAlone) (undisturbed [hit]) === [2],
          counterexample "typical" (all ((\x -> abs (x / 2e-5 - 1) < 0.04) . typical) (atFullSpeed [hit])),
          filter (`elem` [OrderEffect, Disagreement]) (map diagnosisCause (diagnose others)) === []
        ]

-- | Each repeat has one process at full speed and two at half the speed; the repeats differ all the
-- same.
twoSpeeds :: Noise -> Property
twoSpeeds noise =
  let at factors a = a {accountAlone = zipWith (\f -> slowed f f) factors (accountAlone a), accountAfter = map (slowed 2 2) (accountAfter a)}
      repeated = [at [2, 2, 1] (cleanWith "copy 1" 2e-5 noise), at [1, 2, 2] (cleanWith "copy 2" 3e-5 (drop 9 noise))]
   in filter (/= CpuFrequency) (map diagnosisCause (diagnose repeated)) === [Disagreement]

equalSpeed :: Noise -> Property
equalSpeed noise =
  let a = clean noise
      uneven = a {accountAlone = zipWith (\f t -> slowed f f t) [1, 1.1, 1.2] (accountAlone a)}
      close x y = abs (x / y - 1) < 1e-9
   in counterexample (show (map typical [a, uneven])) (and (zipWith close (map typical (atEqualSpeed [a])) (map typical (atEqualSpeed [uneven]))))

allDisturbed :: Assertion
allDisturbed = do
  let calm = cleanWith "a" 1e-5 (repeat 1)
      hit = (cleanWith "b" 1e-5 (repeat 1)) {accountAlone = map (slowed 3 3) (accountAlone (cleanWith "b" 1e-5 (repeat 1)))}
  map (length . accountAlone) (undisturbed [calm, hit]) @?= [3, 3]
  map (length . trialSamples) (concatMap accountAlone (undisturbed [calm, hit])) @?= replicate 6 20

-- | Both estimates use the same samples, with the varying sizes of a trial and a noise of half a
-- percent. A slope may be three times as uncertain as its points.
estimates :: Noise -> Property
estimates noise = ioProperty $ do
  let ofSizes t = t {trialSamples = [Sample m {measIters = n, measTime = fromIntegral n * perCall s} r | (n, s@(Sample m r)) <- zip [500, 550 ..] (trialSamples t)]}
      trial = case accountAlone (cleanWith "copy" 2e-5 [1 + (x - 1) / 6 | x <- noise]) of
        first : _ -> ofSizes first
        [] -> error "no trial"
  fitted <- regression defaultConfig {resamples = 10} ["iters"] "time" (map sampleMeasured (trialSamples trial))
  pure $ case fitted of
    Left problem -> counterexample problem False
    Right r -> counterexample (show r) (maybe False (\slope -> abs (trialEstimate trial / estPoint slope - 1) < 0.03) (Map.lookup "iters" (regCoeffs r)))

-- | Slows a trial: additions by the first factor, and the benchmark by the second.
slowed :: Double -> Double -> Trial -> Trial
slowed additions factor t = t {trialSamples = [Sample (sampleMeasured s) {measTime = factor * sampleTime s, measCpuTime = factor * sampleTime s} (sampleReading s) {spinTime = (* additions) <$> spinTime (sampleReading s)} | s <- trialSamples t]}

baseline :: Property
baseline = forAllNoise $ \noise ->
  let session t = Session "program" "today" [cleanWith "a" t noise]
      verdicts old new = map changeVerdict (changes 0.05 (session old) (session new))
   in (verdicts 1e-5 1e-5, verdicts 1e-5 2e-5, verdicts 2e-5 1e-5) === ([Same], [Slower], [Faster])
