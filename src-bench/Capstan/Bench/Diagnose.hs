{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Diagnose
-- Description : Finds the causes of distortion in the observations: a pure function.
--
-- The module asks two questions. Does a large part of a benchmark's time go to something other than
-- the benchmark's own work? Do figures agree that should agree? These are the figures of a
-- benchmark alone and after others, and those of repeats (benchmarks whose names differ only in
-- digits).
--
-- A cause is named if it explains a tenth of the time or more. The explanation uses counts, and the
-- cost of each counted event on this machine at that time, but never a time alone. A disagreement
-- must exceed a tenth, and also the spread of the processes of one benchmark, as measured and at
-- equal speed of the processor. An order is also accused if counts explain a fifth of the time,
-- whatever the times are. If other work on the machine took the cores, times of processes that had
-- to wait accuse an order only from a factor of three on. Repeats then disagree if they differ by a
-- fifth in processor time, which excludes the wait for a core.
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

-- | A cause, the benchmarks that show it (the worst benchmark first), the evidence and the advice.
data Diagnosis = Diagnosis
  { diagnosisCause :: Cause,
    diagnosisSubjects :: [Text],
    -- | The part of the time that the cause explains in the worst benchmark, or the difference of
    -- the figures.
    diagnosisShare :: !Double,
    diagnosisEvidence :: [Text],
    diagnosisAdvice :: [Text]
  }
  deriving (Eq, Show)

-- | A tenth: smaller effects are not reported, as a shared machine shows them by itself.
matters :: Double
matters = 0.1

-- | All diagnoses, in a fixed order. A cause that several benchmarks share is reported once.
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
    -- Adds the orders that counts accuse, for benchmarks whose times do not.
    withCounted told = told ++ [d | d@(name, _) <- mapMaybe countedOrder calm, name `notElem` map fst told]
    -- A difference that exists only because the processor was slower at times is no disagreement.
    confirmed f as = if null (f (atEqualSpeed as)) then [] else f as
    -- On a processor with two speeds, processes of one benchmark may differ more than two repeats
    -- do. So repeats that differ at equal speed must also differ as measured, or differ by a
    -- quarter in the middle.
    repeated as
      | null fair = []
      | not (null measured) = measured
      | otherwise = [d | spreadOf (map typical as) >= quarter, d@(_, f) <- fair, findingCause f == Disagreement, findingShare f >= quarter - 1]
      where
        (measured, fair, quarter) = (repeats as, repeats (atEqualSpeed as), 1 + 2.5 * matters)
    -- A shared core is slower by half or so, so a factor of three has another reason.
    beyondSharing f = case findingNumbers f of
      Order alone after least most _ _ -> spreadOf [alone, after, least, most] >= 3
      _ -> False
    -- If other processes took the cores, times differ for that reason. Benchmarks that had to wait
    -- are then compared by processor time, and an order is accused only if sharing a core does not
    -- explain the difference. A benchmark whose own threads wait for each other accuses no order.
    byOthers f = case findingNumbers f of
      Waiting _ used cores _ _ -> not (fillsCores used cores)
      _ -> False

ownCauses :: [Account -> Maybe Finding]
ownCauses = [pageFaults, allocatorThreshold, lateFinalisers, firstTouch, timerResolution, oversubscription]

-- * Figures of an account

-- | The seconds per call: the middle of the processes that ran one benchmark only, or of the other
-- processes if there are none.
typical :: Account -> Double
typical a = middle (map trialEstimate (if null (accountAlone a) then accountAfter a else accountAlone a))

-- | The trials from which figures are made: those of 'typical'.
trials :: Account -> [Trial]
trials a = if null (accountAlone a) then accountAfter a else accountAlone a

-- | The seconds of a call in one process, without the time for which it was ready to run but had no
-- core. Shares refer to this time, because waiting belongs to none of the causes.
trialWork :: Trial -> Double
trialWork t = middle [sampleWork s / max 1 (sampleCalls s) | s <- trialSamples t]

sampleWork :: Sample -> Double
sampleWork s = min time (max (measCpuTime (sampleMeasured s)) (time - fromMaybe 0 (coreWait (sampleReading s))))
  where
    time = sampleTime s

-- | 'trialWork' of the middle process.
work :: Account -> Double
work = middle . map trialWork . trials

-- | The count of an event per call, in the middle process, over all its samples.
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

-- | The page faults per call. If each run is timed by itself, criterion collects before each run,
-- and copies surviving data to new pages. This causes a fault in every few runs, outside of the
-- measured time.
faultsPerCall :: Account -> Double
faultsPerCall a
  | any trialPerRun (trials a) = max 0 (found - 1)
  | otherwise = found
  where
    found = fromMaybe 0 (countPerCall (minorFaults . sampleReading) a)

-- | The least cost among the processes: a disturbed process overstates costs.
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

-- | Each call makes calls for memory, whether their pages are touched or not.
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

-- | Memory waits for the collector, and this costs pages or collections.
lateFinalisers :: Account -> Maybe Finding
lateFinalisers a = do
  watched <- accountWatched a
  late <- watchedLate watched
  let share = max (faultShare a) (collectionShare a)
  if late >= 1048576 && watchedIterations watched >= 4 && share >= matters / 2
    then finding LateFinalisers share a (Late late (watchedIterations watched))
    else Nothing

-- | The first call touches pages, or evaluates a value, and later calls find the result. Pages that
-- it allocates on GHC's heap do not count, as later calls have such pages too, at another place. An
-- evaluation must take longer by a relevant part of a sample: criterion uses samples from
-- 'threshold' seconds on.
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

-- | The chain of additions takes longer in some processes, and the benchmark takes longer with it.
cpuFrequency :: Account -> Maybe Finding
cpuFrequency a
  | length pairs < 2 || spreadOf spins < 1.05 || spreadOf times < 1.05 = Nothing
  | spreadOf (zipWith (/) times spins) - 1 > (spreadOf times - 1) / 2 = Nothing
  | otherwise = finding CpuFrequency (spreadOf times - 1) a (Frequency (spreadOf spins) (spreadOf times))
  where
    pairs = [(trialEstimate t, middle spin) | t <- accountAlone a ++ accountAfter a, let spin = mapMaybe (spinTime . sampleReading) (trialSamples t), not (null spin)]
    (times, spins) = unzip pairs

-- | The section that is timed at once is not long against the clock.
timerResolution :: Account -> Maybe Finding
timerResolution a = case trials a of
  t : _
    | trialPerRun t, Just floor' <- trialFloor t, typical a < 10 * floor' -> finding TimerResolution (min 1 (floor' / typical a)) a (Clock floor' (typical a) True)
    | not (trialPerRun t), section < 100 * resolution -> finding TimerResolution (resolution / section) a (Clock resolution section False)
  _ -> Nothing
  where
    section = middle [sampleTime s | t <- trials a, s <- trialSamples t]
    resolution = cost clockResolution a

-- | Threads that were ready to run had no core. If each run is timed by itself, it is not known
-- which part of the waiting fell into runs. The waiting time of threads that a call makes and ends
-- is not known either. Such threads are accused if they outnumber the cores, the cores are busy,
-- and the kernel switches between the threads.
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

-- | Whether no process of a benchmark waited long for a core.
hasCores :: Account -> Bool
hasCores a = and [sum (mapMaybe (coreWait . sampleReading) samples) < matters / 2 * sum (map sampleTime samples) | t <- accountAlone a ++ accountAfter a, let samples = trialSamples t]

-- * Figures that should agree

-- | Compares a benchmark alone and after others.
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
    -- The orders differ, by more than processes of one order do.
    scattered = length after >= 3 && spreadOf after >= (1 + 2 * matters) * spreadOf alone * spreadOf alone * spreadOf (speeds (accountAfter a))
    -- If the processor was slower on one side, this is no reason to accuse the order.
    unlike = spreadOf [middle (speeds (accountAlone a)), middle (speeds (accountAfter a))]
    speeds ts = [middle spins | t <- ts, let spins = mapMaybe (spinTime . sampleReading) (trialSamples t), not (null spins)]

-- | As 'orderEffect', from counts, which other work on the machine does not change. In a process
-- that ran other benchmarks, a call touches more or fewer new pages than in processes of its own,
-- or the collector copies more or less. The processes of its own must agree.
countedOrder :: Account -> Maybe (Text, Finding)
countedOrder a
  | any trialPerRun (accountAlone a) || length alone < 2 || null after = Nothing
  | seconds > 0 && seconds >= 2 * matters * minimum (alone ++ after) = Just (accountName a, Finding OrderEffect share (typical a) (Order (middle alone) (middle after) (minimum after) (maximum after) pages copied))
  | otherwise = Nothing
  where
    (seconds, pages, copied) = countedDifference a
    (alone, after) = (map trialWork (accountAlone a), map trialWork (accountAfter a))
    share = max (spreadOf [middle alone, middle after]) (spreadOf after) - 1

-- | The difference in counts between a process that ran other benchmarks and the processes of a
-- benchmark's own. The result has the seconds of a call that the difference explains, the page
-- faults alone and there, and the copied bytes alone and there. Counts that explain little are left
-- out.
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
    -- The seconds for a byte, from the process that copies most: the cost of a collection that
    -- copies little has other reasons.
    copyCost = minimum (2e-9 : [collecting t / copiedIn t | t <- accountAlone a ++ accountAfter a, copiedIn t > 0])

-- | Whether all figures of one side exceed all figures of the other side by the factor.
apart :: Double -> [Double] -> [Double] -> Bool
apart factor xs ys = minimum ys > factor * maximum xs || minimum xs > factor * maximum ys

-- | Drops a fifth of the figures at each end if there are more than five: the more processes, the
-- likelier a disturbed process.
inner :: [Double] -> [Double]
inner xs = take (length xs - 2 * outside) (drop outside (sort xs))
  where
    outside = (length xs - 1) `div` 5

-- | The groups of benchmarks whose names differ only in digits.
families :: [Account] -> [[Account]]
families accounts = [as | as@(_ : _ : _) <- Map.elems byFamily]
  where
    byFamily = Map.fromListWith (flip (++)) [(f, [a]) | a <- accounts, Just f <- [family (accountName a)]]

-- | The common name of repeats: a name without the digits at its end. 'Nothing' if the name has no
-- such digits.
family :: Text -> Maybe Text
family name
  | Text.null digits = Nothing
  | otherwise = Just (Text.dropEnd (Text.length digits) name)
  where
    digits = Text.takeWhileEnd isDigit name

-- | The findings among repeats: they differ alone, or only by their place in a process.
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
