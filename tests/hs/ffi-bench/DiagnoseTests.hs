{-# LANGUAGE OverloadedStrings #-}

-- | The diagnosis is a pure function: what is built in is found, what is not is not.
module DiagnoseTests (tests) where

import Capstan.Bench.Baseline
import Capstan.Bench.Counters
import Capstan.Bench.Diagnose
import Capstan.Bench.Evidence
import qualified Data.Text as Text
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
      testCase "families are names that differ in digits at the end" $ map family ["copy 1", "copy 12", "copy", "1", "a1b"] @?= [Just "copy ", Just "copy ", Nothing, Just "", Nothing],
      testProperty "a baseline: the same is the same, twice as slow is slower" baseline
    ]

forAllNoise :: Testable p => (Noise -> p) -> Property
forAllNoise = forAllBlind noises

-- | Found, and no cause is found that contradicts it: others may be found with it, where they belong
-- together.
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
      waiting = distorted Oversubscription noise
      order = distorted OrderEffect noise
  map diagnosisCause (diagnose order) @?= [OrderEffect]
  map diagnosisCause (diagnose (waiting ++ order)) @?= [Oversubscription]

baseline :: Property
baseline = forAllNoise $ \noise ->
  let session t = Session "program" "today" [cleanWith "a" t noise]
      verdicts old new = map changeVerdict (changes 0.05 (session old) (session new))
   in (verdicts 1e-5 1e-5, verdicts 1e-5 2e-5, verdicts 2e-5 1e-5) === ([Same], [Slower], [Faster])
