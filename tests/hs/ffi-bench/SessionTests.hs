{-# LANGUAGE OverloadedStrings #-}

-- | Sessions of this very program: the counts in fresh processes. The tests do not check times.
module SessionTests (tests) where

import Capstan.Bench (Cause (..), Diagnosis (..), bench, defaultMain, whnf)
import Capstan.Bench.Child (taskVariable)
import Capstan.Bench.Counters
import Capstan.Bench.Diagnose (countPerCall, diagnose)
import Capstan.Bench.Evidence
import Capstan.Bench.Session
import Control.Exception (bracket_, try)
import Control.Monad (forM_)
import Criterion.Measurement.Types (Measured (measAllocated), fromInt)
import qualified Data.Aeson as Aeson
import Data.List (isInfixOf, sort)
import Data.Maybe (fromMaybe, isJust)
import Data.Text (Text)
import Seeded (blockBytes, madeThreads, markerVariable, reservedBytes, touchBytes)
import System.Directory (getTemporaryDirectory, removePathForcibly)
import System.Environment (lookupEnv, setEnv, withArgs)
import System.Exit (ExitCode (..))
import System.FilePath ((</>))
import System.Process (getCurrentPid)
import Test.Tasty hiding (defaultMain)
import Test.Tasty.HUnit

tests :: TestTree
tests = withResource (measured plan) (const (pure ())) $ \getSession ->
  let account name = do
        (session, _) <- getSession
        maybe (assertFailure ("not measured: " ++ show name)) pure (lookup name [(accountName a, a) | a <- sessionAccounts session])
      watched name = account name >>= maybe (assertFailure "the kernel did not let us watch") pure . accountWatched
   in testGroup
        "sessions"
        [ testCase "a block at the threshold is mapped in each call" $ do
            Watched n calls _ _ <- watched malloc
            assertBool (show calls) (maps calls >= 0.9 * n && mapBytes calls / maps calls >= fromIntegral blockBytes),
          testCase "what is only reserved is no part of what is mapped" $ do
            Watched n calls _ _ <- watched "reserves"
            assertBool (show calls) (maps calls >= 2 * n && mapBytes calls < n * fromIntegral reservedBytes / 2),
          testCase "its pages fault" $ do
            a <- account malloc
            assertBool (show (faults a)) (faults a >= 0.9 * fromIntegral blockBytes / 4096),
          testCase "it waits for the collector" $ do
            Watched n _ late _ <- watched malloc
            assertBool (show (n, late)) (late >= Just (min n 8 * fromIntegral blockBytes)),
          testCase "an arena maps nothing and leaves nothing behind" $ do
            Watched n calls late _ <- watched arena
            assertBool (show (calls, late)) (maps calls + grows calls < 0.05 * n && late < Just (fromIntegral blockBytes)),
          testCase "an arena's pages are there" $ do
            a <- account arena
            assertBool (show (faults a)) (faults a < 1),
          testCase "threads that end with the call are counted" $ do
            Watched _ _ _ made <- watched "makes threads"
            Watched _ _ _ none <- watched arena
            assertBool (show (made, none)) (made >= madeThreads && none == 0),
          testCase "the first call touches what the others find" $ do
            a <- account "first touch"
            let pages = fromIntegral touchBytes / 4096
                firsts = [fromMaybe 0 (minorFaults (sampleReading (trialFirst t))) | t <- accountAlone a]
            -- With huge pages there are fewer faults.
            assertBool (show firsts) (all (>= 0.001 * pages) firsts && faults a < minimum firsts / 2),
          testCase "a process of its own has no past" $ do
            a <- account "remembers"
            assertBool (show (faults a)) (faults a < 1),
          testCase "in one process the past shows, in the orders where there is one" $ do
            a <- account "remembers"
            past <- account "leaves something behind"
            let place t = case trialPlace t of After r n -> (r, n); Alone r -> (r, -1)
                behind = sort [place t | t <- accountAfter past]
                counts = [(fst (place t), or [b < place t | b <- behind, fst b == fst (place t)], trialFaults t) | t <- accountAfter a]
            assertBool (show counts) (all (\(_, later, f) -> if later then f >= 60 else f < 1) counts && length [() | (_, True, _) <- counts] == 1),
          testCase "what malloc remembers of one benchmark shows in another" $ do
            -- These two run alone, as another benchmark sets the threshold, which then stays.
            (session, _) <- measured plan {planNames = ["frees much", "frees little"]}
            let counts = [(trialPlace t, trialFaults t) | a <- sessionAccounts session, accountName a == "frees little", t <- accountAlone a ++ accountAfter a]
                paid = [f | (_, f) <- counts, f >= 40]
                spared = [n | (After _ n, f) <- counts, f < 1]
            assertBool (show counts) (length paid == length counts - 1 && all (> 0) spared && length spared == 1),
          testCase "what happened once is not the order's" $ do
            folder <- getTemporaryDirectory
            number <- getCurrentPid
            let marker = folder </> "capstan-bench-marker-" ++ show number
            (session, _) <- bracket_ (setEnv markerVariable marker) (removePathForcibly marker) (measured plan {planNames = ["leaves something behind", "disturbed once"], planRounds = 3})
            let calls = [(trialPlace t, sum (map sampleCalls (trialSamples t))) | a <- sessionAccounts session, accountName a == "disturbed once", t <- accountAlone a ++ accountAfter a]
            -- A benchmark that sleeps in each call would make about a hundred calls.
            assertBool (show calls) (length calls == 6 && all ((> 1000) . snd) calls),
          testCase "each was measured in each round and place" $ do
            a <- account arena
            [r | Alone r <- map trialPlace (accountAlone a)] @?= [1, 2]
            [r | After r _ <- map trialPlace (accountAfter a)] @?= [1, 2],
          testCase "runs that are timed by themselves are few, because what lies between them takes the time" $ do
            a <- account "timed one by one"
            let calls = [sum (map sampleCalls (trialSamples t)) | t <- accountAlone a]
            assertBool (show calls) (all (< 20000) calls && all trialPerRun (accountAlone a) && all (isJust . trialFloor) (accountAlone a)),
          testCase "how long the first calls take does not decide how many are timed" $ do
            a <- account "slow at first"
            let calls = [sum (map sampleCalls (trialSamples t)) | t <- accountAlone a]
            assertBool (show calls) (all (> 1000) calls),
          testCase "collections are counted without +RTS -T" $ do
            a <- account arena
            let allocated = countPerCall (fmap fromIntegral . fromInt . measAllocated . sampleMeasured) a
            assertBool (show allocated) (allocated > Just 0),
          testCase "faults between runs that are timed one by one are not theirs" $ do
            a <- account "short runs"
            filter (== PageFaults) (map diagnosisCause (diagnose [a])) @?= [],
          testCase "a baseline that is not there is found before anything is measured" $
            refused ["--baseline", "/nowhere/baseline.json"],
          testCase "nor is one without a measurement, or nested without end" $ do
            folder <- getTemporaryDirectory
            number <- getCurrentPid
            let file = folder </> "capstan-bench-baseline-" ++ show number
            forM_ ["{\"program\":\"p\",\"date\":\"d\",\"benchmarks\":[{\"name\":\"b\",\"alone\":[],\"after-others\":[]}]}", replicate 1000000 '['] $ \text -> do
              found <- bracket_ (writeFile file text) (removePathForcibly file) (readSession file)
              assertBool (show found) (either (const True) (const False) found)
              bracket_ (writeFile file text) (removePathForcibly file) (refused ["--baseline", file]),
          testCase "so is a folder for results" $ refused ["--json", "/nowhere/results.json"],
          testCase "a benchmark that fails is reported with its words, and the others go on" $ do
            (session, problems) <- measured plan {planNames = ["fails", "block/arena"], planRounds = 1}
            assertBool (show problems) (any ("on purpose" `isInfixOf`) problems)
            map accountName (sessionAccounts session) @?= [arena],
          testCase "nothing else fails" $ do
            (_, problems) <- getSession
            problems @?= [],
          testCase "what is written can be read" $ do
            (session, _) <- getSession
            Aeson.eitherDecode (Aeson.encode session) @?= Right session,
          testCase "the task is not inherited" $ lookupEnv taskVariable >>= (@?= Nothing)
        ]
  where
    malloc = "block/malloc and a finaliser" :: Text
    arena = "block/arena" :: Text
    faults = fromMaybe 0 . countPerCall (minorFaults . sampleReading)
    refused arguments = do
      outcome <- try (withArgs arguments (defaultMain [bench "nothing" (whnf not True)]))
      outcome @?= Left (ExitFailure 64)
    trialFaults t = sum [fromMaybe 0 (minorFaults (sampleReading s)) | s <- trialSamples t] / sum (map sampleCalls (trialSamples t))

-- | Measures this program, which sessions start again.
measured :: Plan -> IO (Session, [String])
measured p = runSession p >>= either assertFailure pure

plan :: Plan
plan =
  Plan
    { planNames = ["block/malloc and a finaliser", "block/arena", "makes threads", "reserves", "first touch", "leaves something behind", "remembers", "slow at first", "timed one by one", "short runs"],
      planRounds = 2,
      planSeconds = 0.02,
      planSeed = 7,
      planQuiet = True,
      planSuite = 0
    }
