{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Diagnose
-- Description : From what was observed to what distorts it: a pure function.
--
-- Two questions are asked. Is a good part of a benchmark's time spent on something that is not the
-- benchmark's own work? And do figures that should agree do so: the same benchmark alone and after
-- others, and benchmarks that are repeats of each other (their names differ in digits only)?
--
-- A cause is named when it explains a tenth of the time or more, from counts and from what the things
-- counted cost on this machine at that time, and never from a time alone. Disagreement must be
-- larger than a tenth and than what the processes of one benchmark differ by, as measured and at equal
-- speed of the processor; or, for an order, a fifth by what is counted, whatever the times are. Where other work on the
-- machine took the cores, an order is accused by the times of what had to wait only of factors from three, and repeats
-- disagree when they do by a fifth in processor time, which leaves out waiting for a core.
module Capstan.Bench.Diagnose
  ( Cause (..),
    causeTitle,
    Diagnosis (..),
    diagnose,
    family,
    typical,
    trials,
    countPerCall,
  )
where

import Capstan.Bench.Advice (Cause (..), Finding (..), Numbers (..), adviceFor, causeTitle, fillsCores, wordsFor)
import Capstan.Bench.Counters
import Capstan.Bench.Evidence
import Capstan.Bench.Statistics (middle, spreadOf)
import Criterion.Measurement (threshold)
import Criterion.Measurement.Types (Measured (..), fromDouble, fromInt)
import Data.Char (isDigit)
import Data.List (sort, sortOn)
import qualified Data.Map.Strict as Map
import Data.Maybe (catMaybes, fromMaybe, isNothing, mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text

-- | A cause, the benchmarks that show it (the worst one first), the evidence and what to change.
data Diagnosis = Diagnosis
  { diagnosisCause :: Cause,
    diagnosisSubjects :: [Text],
    -- | The part of the time that it explains in the worst one, or by how much figures differ.
    diagnosisShare :: !Double,
    diagnosisEvidence :: [Text],
    diagnosisAdvice :: [Text]
  }
  deriving (Eq, Show)

-- | A tenth: less is not worth a word, and lies within what a shared machine does by itself.
matters :: Double
matters = 0.1

-- | All that is to be said, in a fixed order: what benchmarks have in common is said once.
diagnose :: [Account] -> [Diagnosis]
diagnose accounts =
  [ Diagnosis
      { diagnosisCause = cause,
        diagnosisSubjects = map fst found,
        diagnosisShare = findingShare worst,
        diagnosisEvidence = wordsFor (map fst found) worst,
        diagnosisAdvice = adviceFor worst
      }
    | cause <- [minBound .. maxBound],
      let found = sortOn (negate . findingShare . snd) [(name, f) | (name, f) <- findings, findingCause f == cause],
      (_, worst) : _ <- [found]
  ]
  where
    own = [(accountName a, f) | a <- accounts, f <- mapMaybe ($ a) ownCauses ++ catMaybes [cpuFrequency (if crowded then inProcessorTime a else a)]]
    crowded = any byOthers (mapMaybe oversubscription accounts)
    findings
      | crowded = own ++ withCounted (orders (filter hasCores calm) ++ filter (beyondSharing . snd) (orders (map inProcessorTime (filter (not . hasCores) calm)))) ++ [d | d@(_, f) <- concatMap (repeats . map inProcessorTime) (families calm), findingCause f == Disagreement, findingShare f >= 2 * matters]
      | otherwise = own ++ withCounted (orders calm) ++ concatMap repeated (families calm)
    calm = undisturbed [a | a <- accounts, maybe True byOthers (oversubscription a)]
    orders = concatMap (confirmed (mapMaybe orderEffect) . pure) . filter (isNothing . timerResolution)
    -- What the counts tell of those whose times do not.
    withCounted told = told ++ [d | d@(name, _) <- mapMaybe countedOrder calm, name `notElem` map fst told]
    -- What differs only because the processor was slower at times is no disagreement.
    confirmed f as = if null (f (atEqualSpeed as)) then [] else f as
    -- A processor of two speeds makes processes of one benchmark differ more than two repeats do: those
    -- that are apart at equal speed must be so as measured, or differ by a quarter in the middle.
    repeated as
      | null fair = []
      | not (null measured) = measured
      | otherwise = [d | spreadOf (map typical as) >= quarter, d@(_, f) <- fair, findingCause f == Disagreement, findingShare f >= quarter - 1]
      where
        (measured, fair, quarter) = (repeats as, repeats (atEqualSpeed as), 1 + 2.5 * matters)
    -- A core that is shared is slower by half or so, and what is three times as much has another reason.
    beyondSharing f = case findingNumbers f of
      Order alone after least most _ _ -> spreadOf [alone, after, least, most] >= 3
      _ -> False
    -- Where others took the cores, times differ for that reason: what had to wait is compared by the time that
    -- the processor spent on it, and an order is accused only of more than sharing a core explains. Whose own threads wait accuses nobody.
    byOthers f = case findingNumbers f of
      Waiting _ used cores _ _ -> not (fillsCores used cores)
      _ -> False

ownCauses :: [Account -> Maybe Finding]
ownCauses = [pageFaults, allocatorThreshold, lateFinalisers, firstTouch, timerResolution, oversubscription]

-- * Figures of an account

-- | Seconds per call: the middle of the processes that ran nothing else, or of the others where there
-- are none.
typical :: Account -> Double
typical a = middle (map trialEstimate (if null (accountAlone a) then accountAfter a else accountAlone a))

-- | The processes that figures are made of: the same.
trials :: Account -> [Trial]
trials a = if null (accountAlone a) then accountAfter a else accountAlone a

-- | Seconds of a call in one process, without those in which it was ready to run and had no core. Shares are shares of it:
-- what waiting adds belongs to none of the causes.
trialWork :: Trial -> Double
trialWork t = middle [sampleWork s / max 1 (sampleCalls s) | s <- trialSamples t]

sampleWork :: Sample -> Double
sampleWork s = min time (max (measCpuTime (sampleMeasured s)) (time - fromMaybe 0 (coreWait (sampleReading s))))
  where
    time = sampleTime s

-- | The same in the middle process.
work :: Account -> Double
work = middle . map trialWork . trials

-- | How many of something a call takes: in the middle process, over all its samples.
countPerCall :: (Sample -> Maybe Double) -> Account -> Maybe Double
countPerCall field a
  | null counted = Nothing
  | otherwise = Just (middle counted)
  where
    counted = mapMaybe (countInTrial field) (trials a)

countInTrial :: (Sample -> Maybe Double) -> Trial -> Maybe Double
countInTrial field t
  | calls <= 0 = Nothing
  | otherwise = (/ calls) . sum <$> mapM field (trialSamples t)
  where
    calls = sum (map sampleCalls (trialSamples t))

-- | Where each run is timed by itself, criterion collects before each, and what survives is copied to
-- pages of its own: a fault in every few runs, outside of the time that was taken.
faultsPerCall :: Account -> Double
faultsPerCall a
  | any trialPerRun (trials a) = max 0 (found - 1)
  | otherwise = found
  where
    found = fromMaybe 0 (countPerCall (minorFaults . sampleReading) a)

-- | The cheapest of the processes: a disturbed one overstates what things cost.
cost :: (Costs -> Double) -> Account -> Double
cost field a = case map (field . surroundingCosts . trialSurroundings) (trials a) of
  [] -> 0
  costs -> minimum costs

faultShare :: Account -> Double
faultShare a
  | work a <= 0 = 0
  | otherwise = min 1 (faultsPerCall a * cost faultCost a / work a)

collectionShare :: Account -> Double
collectionShare a = fromMaybe 0 (countPerCall (fromDouble . measGcCpuSeconds . sampleMeasured) a) / max 1e-12 (work a)

finding :: Cause -> Double -> Account -> Numbers -> Maybe Finding
finding cause share a numbers = Just (Finding cause share (typical a) numbers)

-- * Causes within one benchmark

pageFaults :: Account -> Maybe Finding
pageFaults a
  | share < matters = Nothing
  | otherwise = finding PageFaults share a (Faults (faultsPerCall a) (cost faultCost a))
  where
    share = faultShare a

-- | Calls for memory that are made call after call, whether their pages are touched or not.
allocatorThreshold :: Account -> Maybe Finding
allocatorThreshold a = do
  Watched n calls _ _ <- accountWatched a
  let kernel = (maps calls + unmaps calls + grows calls + trims calls + discards calls) / n
      share = min 1 (kernel * cost mappingCost a / 2 / max 1e-12 (work a) + faultShare a)
      size = if maps calls > 0 then mapBytes calls / maps calls else 0
      large = size >= 65536 && maps calls / n >= 0.05
      heap = (grows calls + trims calls) / n >= 0.05
  if kernel >= 0.1 && (large || heap) && share >= matters
    then finding AllocatorThreshold share a (Kernel (maps calls / n) size ((grows calls + trims calls) / n) ((unmaps calls + discards calls) / n) (faultsPerCall a))
    else Nothing

-- | Memory that waits for the collector, where that costs something: pages, or collections.
lateFinalisers :: Account -> Maybe Finding
lateFinalisers a = do
  watched <- accountWatched a
  late <- watchedLate watched
  let share = max (faultShare a) (collectionShare a)
  if late >= 1048576 && watchedIterations watched >= 4 && share >= matters / 2
    then finding LateFinalisers share a (Late late (watchedIterations watched))
    else Nothing

-- | The first call touches pages that the others find there, or it evaluates what they find evaluated. Pages of what it
-- allocates on GHC's heap are not counted: the others have them too, at another place. What is evaluated must take
-- longer by a part of a sample that counts: criterion counts those from 'threshold' seconds.
firstTouch :: Account -> Maybe Finding
firstTouch a
  | null firsts = Nothing
  | faults >= 64 && touching >= max (matters * work a) touchMatters && excess >= touching / 2 = told (First (work a + excess) faults 0)
  | made >= 1048576 && excess >= matters * max (work a) threshold = told (First (work a + excess) faults made)
  | otherwise = Nothing
  where
    firsts = map trialFirst (accountAlone a)
    told = finding FirstTouch (excess / max 1e-12 (work a)) a
    excess = middle (map sampleWork firsts) - work a
    touching = faults * cost faultCost a
    faults = middle (catMaybes [minorFaults (sampleReading f) | f <- firsts]) - faultsPerCall a - allocated / 4096
    allocated = middle (mapMaybe (allocation . sampleMeasured) firsts)
    made = allocated - fromMaybe 0 (countPerCall (allocation . sampleMeasured) a)
    allocation = fmap fromIntegral . fromInt . measAllocated

-- | Half a millisecond: some thousand pages.
touchMatters :: Double
touchMatters = 0.0005

-- | The same chain of additions takes longer in some processes, and the benchmark with it.
cpuFrequency :: Account -> Maybe Finding
cpuFrequency a
  | length pairs < 2 || spreadOf spins < 1.05 || spreadOf times < 1.05 = Nothing
  | spreadOf (zipWith (/) times spins) - 1 > (spreadOf times - 1) / 2 = Nothing
  | otherwise = finding CpuFrequency (spreadOf times - 1) a (Frequency (spreadOf spins) (spreadOf times))
  where
    pairs = [(trialEstimate t, middle spin) | t <- accountAlone a ++ accountAfter a, let spin = mapMaybe (spinTime . sampleReading) (trialSamples t), not (null spin)]
    (times, spins) = unzip pairs

-- | What is timed at once is not long against the clock.
timerResolution :: Account -> Maybe Finding
timerResolution a = case trials a of
  t : _
    | trialPerRun t, Just floor' <- trialFloor t, typical a < 10 * floor' -> finding TimerResolution (min 1 (floor' / typical a)) a (Clock floor' (typical a) True)
    | not (trialPerRun t), section < 100 * resolution -> finding TimerResolution (resolution / section) a (Clock resolution section False)
  _ -> Nothing
  where
    section = middle [sampleTime s | t <- trials a, s <- trialSamples t]
    resolution = cost clockResolution a

-- | Threads that were ready to run had no core. Where each run is timed by itself, it is not known what part of the
-- waiting fell into runs. Of threads that a call makes and ends, nobody knows how long they waited: there are more of them
-- than cores, these are busy, and taken from one thread for another.
oversubscription :: Account -> Maybe Finding
oversubscription a
  | any trialPerRun (trials a) = Nothing
  | not (null waits) && share >= matters && middle (map snd waits) >= matters / 2 = finding Oversubscription share a (Waiting share used cores running switches)
  | made > cores && fillsCores used cores && switches >= 50 * fromIntegral cores = finding Oversubscription (1 - fromIntegral cores / fromIntegral made) a (Making made used cores switches)
  | otherwise = Nothing
  where
    made = maybe 0 watchedThreads (accountWatched a)
    waits =
      [ (w / max 1e-12 (w + measCpuTime m), w / max 1e-12 (measTime m))
        | t <- trials a,
          s <- trialSamples t,
          let m = sampleMeasured s,
          Just w <- [coreWait (sampleReading s)]
      ]
    share = middle (map fst waits)
    used = middle [measCpuTime m / max 1e-12 (measTime m) | t <- trials a, s <- trialSamples t, let m = sampleMeasured s]
    around = map trialSurroundings (trials a)
    cores = maximum (map surroundingProcessors around)
    running = maximum (map surroundingThreads around)
    switches = fromMaybe 0 (countPerCall (involuntarySwitches . sampleReading) a) / max 1e-12 (typical a)

-- | Whether no process of it waited for a core for long.
hasCores :: Account -> Bool
hasCores a = and [sum (mapMaybe (coreWait . sampleReading) samples) < matters / 2 * sum (map sampleTime samples) | t <- accountAlone a ++ accountAfter a, let samples = trialSamples t]

-- * Figures that should agree

-- | The same benchmark, alone and after others.
orderEffect :: Account -> Maybe (Text, Finding)
orderEffect a
  | length alone < 2 || length after < 2 = Nothing
  | apart ((1 + matters) * unlike * max (spreadOf alone) (spreadOf after)) alone after || scattered = Just (accountName a, Finding OrderEffect share (typical a) (Order (middle alone) (middle after) (minimum after) (maximum after) pages copied))
  | otherwise = Nothing
  where
    (_, pages, copied) = countedDifference a
    alone = inner (map trialEstimate (accountAlone a))
    after = inner (map trialEstimate (accountAfter a))
    share = abs (middle after / middle alone - 1) `max` (spreadOf after - 1)
    -- The orders differ, and by more than processes of one order do.
    scattered = length after >= 3 && spreadOf after >= (1 + 2 * matters) * spreadOf alone * spreadOf alone * spreadOf (speeds (accountAfter a))
    -- A processor that was slower on one side is no reason to accuse the order.
    unlike = spreadOf [middle (speeds (accountAlone a)), middle (speeds (accountAfter a))]
    speeds ts = [middle spins | t <- ts, let spins = mapMaybe (spinTime . sampleReading) (trialSamples t), not (null spins)]

-- | The same, told from what was counted, which other work on the machine does not change: in a process that ran others a
-- call touches other numbers of new pages than in processes of its own, which agree, or the collector copies more or less.
countedOrder :: Account -> Maybe (Text, Finding)
countedOrder a
  | any trialPerRun (accountAlone a) || length alone < 2 || null after = Nothing
  | seconds > 0 && seconds >= 2 * matters * minimum (alone ++ after) = Just (accountName a, Finding OrderEffect share (typical a) (Order (middle alone) (middle after) (minimum after) (maximum after) pages copied))
  | otherwise = Nothing
  where
    (seconds, pages, copied) = countedDifference a
    (alone, after) = (map trialWork (accountAlone a), map trialWork (accountAfter a))
    share = max (spreadOf [middle alone, middle after]) (spreadOf after) - 1

-- | What distinguishes a process that ran others as well from those of its own: the seconds of a call that it accounts
-- for, page faults alone and there, bytes that the collector copied alone and there; those that account for something.
countedDifference :: Account -> (Double, Maybe (Double, Double), Maybe (Double, Double))
countedDifference a
  | null (accountAlone a) || null (accountAfter a) || not sure = (0, Nothing, Nothing)
  | otherwise = (seconds, shown (* cost faultCost a) faultsIn, shown (* copyCost) copiedIn)
  where
    explained t = faultsIn t * cost faultCost a + copiedIn t * copyCost
    alone = map explained (accountAlone a)
    farthest = last (sortOn (\t -> abs (explained t - middle alone)) (accountAfter a))
    seconds = abs (explained farthest - middle alone)
    sure = maximum alone - minimum alone <= seconds / 4
    shown price field
      | abs (price there - price own) >= seconds / 3 && seconds >= matters / 2 * work a = Just (own, there)
      | otherwise = Nothing
      where
        (own, there) = (middle (map field (accountAlone a)), field farthest)
    faultsIn = fromMaybe 0 . countInTrial (minorFaults . sampleReading)
    copiedIn = fromMaybe 0 . countInTrial (fmap fromIntegral . fromInt . measBytesCopied . sampleMeasured)
    collecting = fromMaybe 0 . countInTrial (fromDouble . measGcCpuSeconds . sampleMeasured)
    -- Seconds for a byte, where most is copied; a collection that copies little costs by other things.
    copyCost = minimum (2e-9 : [collecting t / copiedIn t | t <- accountAlone a ++ accountAfter a, copiedIn t > 0])

-- | Whether all figures of one side are that much larger than all of the other.
apart :: Double -> [Double] -> [Double] -> Bool
apart factor xs ys = minimum ys > factor * maximum xs || minimum xs > factor * maximum ys

-- | All of up to five figures; of more, without the fifth of them at each end: the more processes, the surer it is
-- that one was disturbed.
inner :: [Double] -> [Double]
inner xs = take (length xs - 2 * outside) (drop outside (sort xs))
  where
    outside = (length xs - 1) `div` 5

-- | Benchmarks whose names differ in digits only.
families :: [Account] -> [[Account]]
families accounts = [as | as@(_ : _ : _) <- Map.elems byFamily]
  where
    byFamily = Map.fromListWith (flip (++)) [(f, [a]) | a <- accounts, Just f <- [family (accountName a)]]

-- | What repeats have in common: the name without digits at its end. Nothing where there are none.
family :: Text -> Maybe Text
family name
  | Text.null digits = Nothing
  | otherwise = Just (Text.dropEnd (Text.length digits) name)
  where
    digits = Text.takeWhileEnd isDigit name

-- | What is wrong among repeats: they differ alone, or only by their place in a process.
repeats :: [Account] -> [(Text, Finding)]
repeats as
  | or [separate a b | a <- as, b <- as] = report Disagreement alone (spreadOf alone)
  | length rounds >= 2 && minimum (inner (map spreadOf rounds)) >= 1 + 1.5 * matters && spreadOf alone <= 1 + 0.7 * matters =
    report OrderEffect (concat rounds) (middle (map spreadOf rounds))
  | otherwise = []
  where
    alone = map typical as
    rounds = Map.elems (Map.fromListWith (++) [(r, [trialEstimate t]) | a <- as, t <- accountAfter a, After r _ <- [trialPlace t]])
    separate a b = length (accountAlone a) >= 2 && length (accountAlone b) >= 2 && apart (1 + matters) (estimates a) (estimates b)
    estimates = inner . map trialEstimate . accountAlone
    report cause shown spread =
      [ (accountName a, Finding cause (spread - 1) (middle alone) (Repeats (length as) (minimum shown) (maximum shown)))
        | a <- as
      ]
