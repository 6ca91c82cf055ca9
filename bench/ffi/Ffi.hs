-- | Measurements of the measuring: @ffi@.
--
-- The program of 2012 and its fixed binding, the cost of each binding, false alarms, and seeded
-- distortions. Also the wavelet transform in every order, the harness itself, and criterion beside
-- it. The arguments are those of the other programs here; @-t@ is not used.
module Main (main) where

import Bench (Arguments, emit, growUntil, parseArguments, quantile, wanted)
import Capstan.Bench (Benchmark, Cause (..), Diagnosis (..))
import Capstan.Bench.Child (ownTask, perform)
import Capstan.Bench.Counters (Reading (spinTime), openCounters)
import Capstan.Bench.Diagnose (diagnose, typical)
import Capstan.Bench.Evidence
import Capstan.Bench.Measure (sampler)
import Capstan.Bench.Session
import Capstan.Bench.Statistics (middle, slopeOf, spreadOf)
import Capstan.Bench.Tree (names)
import Capstan.Binding (withArena)
import Cases
import Control.Concurrent (runInUnboundThread)
import Control.Monad (forM, forM_, replicateM, unless, when)
import qualified Copy
import Criterion.Measurement (initializeTime, measure)
import Criterion.Measurement.Types (Measured (..))
import Data.List (isPrefixOf)
import qualified Data.Text as Text
import Data.Word (Word64)
import Numeric (showFFloat)
import qualified Seeded
import Synthetic (distorted)
import System.Environment (getArgs, getExecutablePath, lookupEnv, setEnv, unsetEnv)
import System.Exit (die)
import System.IO (hPutStrLn, stderr)
import System.Process (readProcess)

main :: IO ()
main = runInUnboundThread . withArena (8 * max Copy.size Seeded.blockBytes) $ \arena -> do
  task <- ownTask
  let all' = benchmarks arena
  case task of
    Just t -> perform t all'
    Nothing -> lookupEnv peerVariable >>= maybe (suite all') (besideCriterion . read)

suite :: [Benchmark] -> IO ()
suite all' = do
  arguments <- getArgs >>= parseArguments
  forM_ (cases (names all')) $ \(covers, run) -> when (any (wanted arguments) covers) (run arguments)

-- | The figures that each measurement prints.
cases :: [String] -> [([String], Arguments -> IO ())]
cases all' =
  [ (["copy-2012", "diagnoses-2012"], const (puzzle (group "2012/"))),
    (["repeats-spread", "copy-fixed", "copy-c"], const (fixed ("loop in C" : group "fixed/"))),
    (["binding-arena", "binding-fresh", "binding-managed", "binding-adopt", "binding-foreign-result"], const (bindings (group "binding/"))),
    (["harness-overhead"], const overhead),
    ("wavelet-order-spread" : map spreadName waveletGroups, wavelet all'),
    (["criterion-difference"], const criterion),
    (["diagnoses-found"], const seeded),
    (["false-alarms", "machine-disturbed"], const (falseAlarms (group "clean/")))
  ]
  where
    group prefix = filter (prefix `isPrefixOf`) all'

-- | Rounds, seconds for one benchmark in one process, a seed, names. A failed process is an error.
session :: Int -> Double -> Word64 -> [String] -> IO [Account]
session rounds seconds seed chosen = do
  (result, problems) <- runSession (Plan chosen rounds seconds seed True 0) >>= either die pure
  unless (null problems) (die (unlines problems))
  pure (sessionAccounts result)

-- | A session at equal speed of the processor, so that changes of the machine have no effect.
steadily :: Int -> Double -> Word64 -> [String] -> IO [Account]
steadily rounds seconds seed chosen = atFullSpeed <$> session rounds seconds seed chosen

puzzle :: [String] -> IO ()
puzzle chosen = do
  accounts <- session 2 0.1 1 chosen
  emit "copy-2012" "us" (1e6 * middle (map typical (atFullSpeed accounts)))
  let found = map diagnosisCause (diagnose accounts)
  emit "diagnoses-2012" "of 3" (fromIntegral (length (filter (`elem` found) [AllocatorThreshold, PageFaults, LateFinalisers])))

-- | Runs many short processes, and takes the fastest tenth of all samples at equal speed of the
-- processor. A core that is shared with another guest copies at half the speed, and this changes
-- from one tenth of a second to the next. Chance would decide which of the repeats meets that.
fixed :: [String] -> IO ()
fixed chosen = do
  loop : copies <- steadily 60 0.01 1 chosen
  emit "repeats-spread" "%" (100 * (spreadOf (map undelayed copies) - 1))
  emit "copy-fixed" "us" (1e6 * middle (map undelayed copies))
  emit "copy-c" "us" (1e6 * undelayed loop)
  where
    undelayed a = quantile 0.1 (concatMap (map perCall . trialSamples) (accountAlone a))

bindings :: [String] -> IO ()
bindings chosen = do
  accounts <- steadily 2 0.1 1 chosen
  forM_ accounts $ \a -> emit ("binding-" ++ drop 8 (Text.unpack (accountName a))) "us" (1e6 * typical a)

overhead :: IO ()
overhead = do
  accounts <- steadily 3 0.1 1 ["empty"]
  forM_ accounts $ \a -> emit "harness-overhead" "ns" (1e9 * typical a)

-- | The largest difference, in percent, between the ratios of an implementation to C: in its own
-- process, and in each order of execution. If two implementations change places without being
-- equal, the figure is 100. Unlike the other measurements this one runs on all Capabilities. As in
-- @examples/wavelet@, GHC collects without parallel threads, and gives no memory back to the
-- kernel.
--
-- A place counts with the fastest tenth of all samples of its processes. There are many short
-- processes, as the kernel decides anew in each which threads share a core, and where its pages
-- are. If the two processors are one core of the host for half of the time, a computation by two
-- threads takes 64 or 130 us and no time between. Chance would decide which of these is the median.
-- Times are 'adjusted'.
wavelet :: [String] -> Arguments -> IO ()
wavelet all' arguments = withVariable "GHCRTS" "-N -qg -A4m -O64m" $ do
  spreads <- forM chosen $ \group -> do
    accounts <- session 180 0.02 1 (filter (("wavelet/" ++ group ++ "/") `isPrefixOf`) all')
    let ratios = [[place a / place c | place <- places, place c > 0, place a > 0] | a <- accounts, c <- take 1 accounts]
        swapped = or [or (zipWith (\x y -> x < 0.95 * y) a b) && or (zipWith (\x y -> x > 1.05 * y) a b) | a <- ratios, b <- ratios]
        spread = if swapped then 100 else 100 * (maximum (map spreadOf ratios) - 1)
    forM_ (zip accounts ratios) $ \(a, r) -> hPutStrLn stderr (unwords (Text.unpack (accountName a) : map (\x -> showFFloat (Just 2) x "") r))
    emit (spreadName group) "%" spread
    pure spread
  when together (emit "wavelet-order-spread" "%" (maximum spreads))
  where
    together = wanted arguments "wavelet-order-spread"
    chosen = [group | group <- waveletGroups, together || wanted arguments (spreadName group)]
    -- In its own process, and after others in the three orders, which the rounds take in turn.
    places = map (\order a -> quantile 0.1 (concat [times | (place, times) <- adjusted a, orderOf place == order])) [Nothing, Just 0, Just 1, Just 2]
    orderOf place = case place of
      Alone _ -> Nothing
      After r _ -> Just (r `mod` 3)

-- | Times per call in each process, at one speed of the processor. A chain of additions runs beside
-- each sample. A regression over all processes, whatever their place, finds the influence of its
-- time on the sample's time. The influence is smaller if more of the time goes to memory, to the
-- other core, and to changes during the sample.
adjusted :: Account -> [(Place, [Double])]
adjusted a = [(place, [exp (time - share * (speed - usual)) | (speed, time) <- samples]) | (place, samples) <- trials]
  where
    trials = [(trialPlace t, [(log speed, log (perCall s)) | s <- trialSamples t, Just speed <- [spinTime (sampleReading s)]]) | t <- accountAlone a ++ accountAfter a]
    together = concatMap snd trials
    (usual, typical') = (middle (map fst together), middle (map snd together))
    -- Other work disturbed samples of twice or half the usual time.
    share = slopeOf [point | point@(_, time) <- together, abs (time - typical') < log 2]

waveletGroups :: [String]
waveletGroups = ["lattice", "transform"]

spreadName :: String -> String
spreadName group = group ++ "-order-spread"

withVariable :: String -> String -> IO a -> IO a
withVariable name value action = do
  old <- lookupEnv name
  setEnv name value
  action <* maybe (unsetEnv name) (setEnv name) old

-- | The largest difference between this library's figures and criterion's. Both show criterion's
-- own regression and mean of the samples, so the test compares the samples. In five processes of
-- each benchmark the samples of this library and of criterion's 'measure' take turns. The reason is
-- that the speed of a host changes from one tenth of a second to the next.
criterion :: IO ()
criterion = do
  program <- getExecutablePath
  differences <- forM (zip [0 :: Int ..] cleanNames) $ \(i, name) -> do
    ratios <- replicateM 5 (read <$> withVariable peerVariable (show i) (readProcess program [] ""))
    hPutStrLn stderr (unwords (name : map (\x -> showFFloat (Just 3) x "") ratios))
    pure (abs (middle ratios - 1))
  emit "criterion-difference" "%" (100 * maximum differences)

-- | The variable with the number of a clean benchmark, for a process that compares it.
peerVariable :: String
peerVariable = "CAPSTANBENCH_PEER"

-- | This library's time over criterion's: the median of many turns, each with this library once,
-- criterion twice, and this library again.
besideCriterion :: Int -> IO ()
besideCriterion i = do
  openCounters
  initializeTime
  ours <- (fmap sampleTime .) <$> sampler benchmark
  calls <- growUntil 4e-3 (theirs . fromIntegral)
  ratios <- replicateM 60 $ do
    [a, b, b', a'] <- mapM ($ fromIntegral calls) [ours, theirs, theirs, ours]
    pure ((a + a') / (b + b'))
  print (middle ratios)
  where
    benchmark = cleanBenchmarks !! i
    theirs n = measTime . fst <$> measure benchmark n

-- | The share of the built-in distortions that are found. The distortion of the clock's frequency
-- is synthetic, as a change of the frequency needs privileges.
seeded :: IO ()
seeded = do
  found <- forM experiments $ \(cause, chosen) -> do
    -- Three orders of execution: an effect of order may show in some of them only.
    accounts <- session 3 0.1 1 (map ("seeded/" ++) chosen)
    let present = cause `elem` map diagnosisCause (diagnose accounts)
    unless present (hPutStrLn stderr ("not found: " ++ show cause))
    pure present
  let synthetic = CpuFrequency `elem` map diagnosisCause (diagnose (distorted CpuFrequency (repeat 1)))
      outcomes = synthetic : found
  emit "diagnoses-found" "%" (100 * fromIntegral (length (filter id outcomes)) / fromIntegral (length outcomes))
  where
    experiments =
      [ (AllocatorThreshold, [malloc]),
        (PageFaults, [malloc]),
        (LateFinalisers, [malloc]),
        (FirstTouch, ["first touch"]),
        (OrderEffect, ["leaves something behind", "remembers"]),
        (OrderEffect, ["frees much", "frees little"]),
        (TimerResolution, ["timed one by one"]),
        (Oversubscription, ["others compute"]),
        (Disagreement, ["repeat 1", "repeat 2"])
      ]
    malloc = "block/malloc and a finaliser"

-- | The share of benchmarks with a diagnosis, for ten clean benchmarks in twenty runs. A diagnosis
-- of the machine (other work on it, a slower processor) is true and no false alarm, so it is shown
-- separately.
falseAlarms :: [String] -> IO ()
falseAlarms chosen = do
  alarms <- forM [1 .. 20] $ \seed -> do
    accounts <- session 2 0.02 seed chosen
    let found = diagnose accounts
        subjects wanted' = sum [length (diagnosisSubjects d) | d <- found, wanted' (diagnosisCause d)]
    forM_ [d | d <- found, diagnosisCause d `notElem` ofMachine] $ \d ->
      hPutStrLn stderr (unlines (map Text.unpack (Text.pack (show (diagnosisCause d)) : diagnosisSubjects d ++ diagnosisEvidence d)))
    pure (subjects (`notElem` ofMachine), subjects (`elem` ofMachine))
  let part n = 100 * fromIntegral (sum n) / fromIntegral (20 * length chosen)
  emit "false-alarms" "%" (part (map fst alarms))
  emit "machine-disturbed" "%" (part (map snd alarms))
  where
    ofMachine = [Oversubscription, CpuFrequency]
