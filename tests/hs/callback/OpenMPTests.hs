-- | Settings, queries and counts.
module OpenMPTests (tests) where

import CFunctions
import Capstan.Callback
import Capstan.OpenMP
import Check
import Control.Concurrent
import Control.Exception hiding (finally)
import Control.Monad (forM, forM_, forever, replicateM, replicateM_, unless, void, when, (>=>))
import qualified Data.Bifunctor as Either (first)
import Data.IORef
import Data.List (isInfixOf, sort)
import Foreign.C.String (peekCString, withCString)
import Foreign.Ptr (nullPtr)
import Foreign.StablePtr (freeStablePtr, newStablePtr)
import GHC.IO.Exception (IOErrorType (InvalidArgument))
import GHC.Stats (gc, gcdetails_threads, getRTSStats, getRTSStatsEnabled)
import System.IO.Error (ioeGetErrorType)
import System.Timeout (timeout)

tests :: [Test]
tests =
  [ test "withThreads" (forM_ [1, 3, 5] sized),
    test "settings of green threads" greenThreads,
    test "settings of threads that are interrupted" interrupted,
    test "settings of threads that are killed at any moment" killed,
    test "settings of threads that wait for ever" waitsForEver,
    test "settings keep the masking state" masked,
    test "settings are restored" restored,
    test "settings are what was set" settings,
    test "numbers that C cannot take" beyond,
    test "a region has the size that the caller was told" asTold,
    test "members keep their masks beside Haskell code" masksStay,
    test "a region may be smaller where the program says so" smaller,
    test "a region of one thread keeps the collector to one thread" smallCollections,
    test "settings in a callback" inCallback,
    test "the child of a fork obeys numbers" inChild,
    test "questions" questions,
    test "ancestors" ancestors,
    test "questions of a task" taskQuestions,
    test "a task waits for its event" detached,
    test "places" placeQuestions,
    test "affinity as text" affinity,
    test "formats that are none" noFormats,
    test "an event that no clause has made" noEvent,
    test "teams" teamQuestions,
    test "the host is the only device" devices,
    test "time" wallTime,
    test "statistics" counts,
    test "unsafe regions are counted" unsafeCounts,
    test "pause" paused
  ]

sized :: Int -> IO ()
sized n = withThreads n regionSize >>= equal "threads" (fromIntegral n)

-- | Each green thread has its own number of threads.
greenThreads :: IO ()
greenThreads = do
  ends <- forM [1 .. 8] $ \n -> do
    end <- newEmptyMVar
    _ <- forkIO (withThreads n (yield >> regionSize >>= \first -> yield >> (,) first <$> regionSize) >>= putMVar end)
    pure (n, end)
  forM_ ends $ \(n, end) ->
    takeMVar end >>= if rtsSupportsBoundThreads then equal "threads" (fromIntegral n, fromIntegral n) else const (pure ())

-- | The outcome of an action in a green thread.
green :: IO a -> IO (Either SomeException a)
green action = do
  end <- newEmptyMVar
  _ <- forkIO (try action >>= putMVar end)
  takeMVar end

-- | Another thread interrupts the action, the action interrupts itself, and the action goes on
-- after an interruption.
interrupted :: IO ()
interrupted = do
  late <- green (timeout 1000 (withThreads 2 (withThreads 3 forever')))
  equal "timeout" (Right Nothing) (Either.first show late)
  itself <- green (myThreadId >>= \me -> withThreads 2 (throwTo me Overflow >> forever'))
  equal "thrown to the caller" (Left (show Overflow)) (Either.first show itself)
  kept <- green $ do
    me <- myThreadId
    begun <- newEmptyMVar
    _ <- forkIO (takeMVar begun >> throwTo me Overflow)
    withThreads 3 ((putMVar begun () >> forever' >> regionSize) `catch` (\e -> equal "caught" Overflow e >> regionSize))
  equal "goes on" (Right 3) (Either.first show kept)
  where
    forever' = threadDelay 3600000000

-- | No exception is lost at the beginning or end of an action, so that the thread would go on, and
-- none comes late.
killed :: IO ()
killed = forM_ [0 .. 2000 :: Int] $ \n -> do
  end <- newEmptyMVar
  begun <- newEmptyMVar
  thread <- mask $ \restore -> forkIO (try (restore (forever (withThreads 2 (tryPutMVar begun ())))) >>= putMVar end)
  takeMVar begun
  replicateM_ (n `mod` 40) yield
  killThread thread
  takeMVar end >>= equal "outcome" (Left ThreadKilled :: Either AsyncException ())

-- | The caller gets an exception in the action that says so.
waitsForEver :: IO ()
waitsForEver = do
  end <- newEmptyMVar
  stable <- newStablePtr end
  _ <- forkIO (try (withThreads 2 (newEmptyMVar >>= takeMVar)) >>= putMVar end)
  outcome <- findingDeadlocks (takeMVar end)
  freeStablePtr stable
  equal "outcome" (Left (show BlockedIndefinitelyOnMVar)) (Either.first show (outcome :: Either BlockedIndefinitelyOnMVar ()))

masked :: IO ()
masked = forM_ [(id, Unmasked), (mask_, MaskedInterruptible), (uninterruptibleMask_, MaskedUninterruptible)] $ \(how, wanted) -> do
  here <- how (withThreads 2 getMaskingState)
  there <- green (how (withThreads 2 getMaskingState))
  equal "bound" wanted here
  equal "green" (Right wanted) (Either.first show there)

-- | Libraries query the number of threads first and rely on it, as their members wait for each
-- other. So the size does not depend on other Haskell threads.
asTold :: IO ()
asTold = forM_ [1, 2, 4] $ \count -> besideComputation count $ do
  Just False <- settingsDynamic <$> getSettings
  told <- getMaxThreads
  replicateM_ 8 (regionSize >>= equal "bound" (fromIntegral told))
  ends <- replicateM 4 (do end <- newEmptyMVar; end <$ forkIO (replicateM 8 regionSize >>= putMVar end))
  forM_ ends (takeMVar >=> equal "green" (replicate 8 (fromIntegral told)))

-- | Members that share processors with others do so by moves, not by masks: threads that they make
-- would inherit a mask.
masksStay :: IO ()
masksStay = besideComputation 1 (narrowMembers 400 >>= equal "members with a smaller mask" 0)

smaller :: IO ()
smaller = besideComputation 2 . withSettings defaultSettings {settingsDynamic = Just True} $ do
  told <- getMaxThreads
  sizes <- replicateM 8 regionSize
  equal "sizes" True (all (\n -> n >= 1 && n <= fromIntegral told) sizes)

-- | A collection beside regions wakes no thread on the caller's processor, even if the regions have
-- only one thread because of the Haskell code that collects. In some looks a region has two
-- threads, as no Haskell code runs in a collection. The script @callback.sh@ runs the test with two
-- Capabilities and with statistics (@+RTS -T@); without them nothing shows what the collector does.
smallCollections :: IO ()
smallCollections =
  getRTSStatsEnabled >>= \enabled -> when enabled . besideComputation 1 $ do
    results <- green (replicateM 20 look) >>= either throwIO pure
    equal ("one thread, by size and threads of the collector: " <> show results) True ((1, 1) `elem` results)
  where
    look = withSettings defaultSettings {settingsDynamic = Just True} $ do
      size <- largestSize 15
      threads <- gcdetails_threads . gc <$> getRTSStats
      pure (size, threads)

-- | Runs an action beside @count@ Haskell threads that compute.
besideComputation :: Int -> IO a -> IO a
besideComputation count action = do
  others <- replicateM count (forkIO (computes 0))
  action <* mapM_ killThread others
  where
    computes :: Integer -> IO ()
    computes n = evaluate (n * 3 + 1 `mod` 1000003) >>= computes . (`mod` 1000003)

-- | A number beyond the bounds becomes the nearest allowed number.
beyond :: IO ()
beyond = do
  let most = 2147483647
  forM_ [2 ^ (31 :: Int), 2 ^ (32 :: Int), 2 ^ (32 :: Int) + 2, maxBound] $ \n -> do
    withThreads n getMaxThreads >>= equal "threads" 4194304 -- as many as Linux can number
    withSettings defaultSettings {settingsActiveLevels = Just n} getMaxActiveLevels >>= \levels ->
      getSupportedActiveLevels >>= equal "levels" levels
    forM_ [Static . Just, Dynamic, Guided] $ \way ->
      withSettings defaultSettings {settingsSchedule = Just (way n)} (settingsSchedule <$> getSettings) >>= equal "schedule" (Just (way most))
    before <- (,) <$> getMaxTeams <*> getTeamsThreadLimit
    setMaxTeams n >> setTeamsThreadLimit n
    (,) <$> getMaxTeams <*> getTeamsThreadLimit >>= equal "teams" (most, most)
    setMaxTeams (fst before) >> setTeamsThreadLimit (snd before)
  forM_ [0, -1, minBound] $ \n -> withThreads n getMaxThreads >>= equal "threads" 1

-- | A forked child gets the same team as its parent, on any number of processors.
inChild :: IO ()
inChild = do
  processors <- getProcessors
  teamInChild (fromIntegral processors + 1) >>= equal "threads" (fromIntegral processors + 1)

restored :: IO ()
restored = do
  before <- getSettings
  ErrorCall _ <- throws (withThreads 7 (withSettings defaultSettings {settingsDynamic = Just True, settingsSchedule = Just Auto} (throwIO (ErrorCall "x")) :: IO ()))
  getSettings >>= equal "settings" before

settings :: IO ()
settings = forM_ [Static Nothing, Static (Just 4), Dynamic 3, Guided 2, Auto] $ \way -> do
  let wanted = Settings (Just 3) (Just True) (Just way) (Just 2)
  withSettings wanted getSettings >>= equal "settings" wanted
  withSettings wanted (withSettings defaultSettings {settingsThreads = Just 2} getSettings)
    >>= equal "inner" wanted {settingsThreads = Just 2}

-- | A region in a callback of a region, if OpenMP allows it more than one thread.
inCallback :: IO ()
inCallback = withSettings defaultSettings {settingsActiveLevels = Just 2} $ do
  let function _ = withThreads 3 (fromIntegral <$> regionSize)
  got <- withCallback Released function $ \f -> regionOfOne f 2 0
  equal "threads" 3 got

questions :: IO ()
questions = do
  processors <- getProcessors
  unless (processors > 0) (throwIO (ErrorCall "no processors"))
  limit <- getThreadLimit
  unless (limit > 0) (throwIO (ErrorCall "no threads"))
  level <- getLevel
  active <- getActiveLevel
  equal "levels" (0, 0) (level, active)
  void getCancellation
  void getProcBind
  places <- getPlaces
  equal "places" False (any null places)
  inside <- withCallback Released (const (fromIntegral <$> getLevel)) $ \f -> regionOfOne f 2 0
  equal "level in a region" 1 inside

-- | A region of two levels; the outer one has one more thread.
ancestors :: IO ()
ancestors = withSettings defaultSettings {settingsActiveLevels = Just 2} $ do
  seen <- newIORef Nothing
  let below _ = do
        answers <- (,,,) <$> getLevel <*> mapM getAncestor levels <*> mapM getTeamSize levels <*> getActiveLevel
        here <- (,,) <$> threadNumber <*> teamSize <*> inParallel
        0 <$ writeIORef seen (Just (answers, here))
      levels = [-1, 0, 1, 2, 3, maxBound]
  _ <- withCallback Released below $ \inner ->
    withCallback Released (const (regionOfOne inner 2 1)) $ \outer -> regionOfOne outer 3 2
  readIORef seen
    >>= equal
      "levels"
      ( Just
          ( (2, [Nothing, Just 0, Just 2, Just 1, Nothing, Nothing], [Nothing, Just 1, Just 3, Just 2, Nothing, Nothing], 2),
            (1, 2, True)
          )
      )
  getMaxActiveLevels >>= equal "levels that may be active" 2
  most <- getSupportedActiveLevels
  equal "levels at most" True (most >= 2)
  withThreads 5 getMaxThreads >>= equal "threads" 5

-- | Without bound threads only the master may call back, so it is alone.
taskQuestions :: IO ()
taskQuestions = do
  outside <- (,) <$> inExplicitTask <*> inFinal
  equal "outside" (False, False) outside
  forM_ [0, 1] $ \finally -> do
    seen <- newIORef Nothing
    let ask = (,) <$> inExplicitTask <*> inFinal >>= writeIORef seen . Just
    withCallback Released ask $ \f -> regionTask f (if rtsSupportsBoundThreads then 2 else 1) finally
    readIORef seen >>= equal "inside" (Just (True, finally /= 0))
  priority <- getMaxTaskPriority
  equal "priority" True (priority >= 0)

-- | Another Haskell thread fulfils the event, at a time when the dependent task could have run.
detached :: IO ()
detached = when rtsSupportsBoundThreads $ do
  fulfilled <- newIORef False
  let start event = void (forkIO (threadDelay 1000 >> writeIORef fulfilled True >> fulfillEvent event))
      next _ = (\done -> if done then 1 else 2) <$> readIORef fulfilled
  got <- withCallback Released start $ \s -> withCallback Released next $ \f -> regionDetach s f 2
  equal "order" 1 got

placeQuestions :: IO ()
placeQuestions = do
  places <- getPlaces
  getPlaceCount >>= equal "number" (length places)
  mapM getPlaceProcessors [0 .. length places - 1] >>= equal "one by one" places
  mapM getPlaceProcessors [-1, length places, maxBound] >>= equal "no such place" [[], [], []]
  partition <- getPartition
  equal "partition" True (all (`elem` [0 .. length places - 1]) partition)
  mine <- getPlaceNumber
  equal "own" True (all (`elem` partition) mine)

affinity :: IO ()
affinity = do
  before <- getAffinityFormat
  setAffinityFormat (replicate 300 'x' ++ "%n")
  long <- captureAffinity Nothing
  getAffinityFormat >>= equal "format" (replicate 300 'x' ++ "%n")
  setAffinityFormat before
  equal "in that format" (replicate 300 'x' ++ "0") long
  captureAffinity (Just "%L of %N") >>= equal "in another" "0 of 1"

-- | These formats are refused, as C would end the process.
noFormats :: IO ()
noFormats = do
  before <- getAffinityFormat
  let right = ["", "%%", "%L%n", "%0.4{thread_num}|%8N|%.1024n"]
      wrong = ["%", "%{colour}", "%{thread_num", "%z", "%0n", "%.n", "%99999999999999999999n", "%L %8", "\181%{\181}"]
  forM_ right $ \format -> do
    setAffinityFormat format
    getAffinityFormat >>= equal "set" format
    inIt <- captureAffinity Nothing
    captureAffinity (Just format) >>= equal "as the process's" inIt
  captureAffinity (Just "%0.4{thread_num}|%8N|") >>= equal "fields" "0000|1       |"
  setAffinityFormat "%n"
  captureAffinity (Just "\0%{colour}") >>= equal "C's end of text" "0"
  forM_ wrong $ \format -> do
    refuses "setAffinityFormat" format (setAffinityFormat format)
    getAffinityFormat >>= equal "as it was" "%n"
    refuses "captureAffinity" format (void (captureAffinity (Just format)))
    withCString format setFormat
    refuses "captureAffinity" format (void (captureAffinity Nothing))
    refuses "captureAffinity" format (void (captureAffinity (Just "")))
    refuses "displayAffinity" format displayAffinity
    setAffinityFormat "%n"
  setAffinityFormat before
  where
    refuses name format action = do
      outcome <- try action
      shown <- withCString format peekCString -- in the encoding of the locale
      case outcome of
        Left e -> equal format (True, True) (isInvalid e, all (`isInfixOf` show e) ["Capstan.OpenMP." ++ name, show shown, "{thread_num}"])
        Right () -> equal format "refused" "taken"

isInvalid :: IOException -> Bool
isInvalid e = ioeGetErrorType e == InvalidArgument

noEvent :: IO ()
noEvent = try (fulfillEvent (EventHandle nullPtr)) >>= equal "refused" (Left True) . Either.first isInvalid

teamQuestions :: IO ()
teamQuestions = do
  seen <- newIORef []
  let ask = (,) <$> getTeamNumber <*> getTeamCount >>= \t -> atomicModifyIORef' seen (\ts -> (t : ts, ()))
  withCallback Released ask (`callTeams` 3)
  readIORef seen >>= equal "teams" [(0, 3), (1, 3), (2, 3)] . sort
  (,) <$> getTeamNumber <*> getTeamCount >>= equal "outside" (0, 1)
  before <- (,) <$> getMaxTeams <*> getTeamsThreadLimit
  setMaxTeams 3 >> setTeamsThreadLimit 2
  (,) <$> getMaxTeams <*> getTeamsThreadLimit >>= equal "limits" (3, 2)
  setMaxTeams (fst before) >> setTeamsThreadLimit (snd before)

devices :: IO ()
devices = do
  getDeviceCount >>= equal "devices" 0
  host <- getInitialDevice
  getDevice >>= equal "device" host
  isInitialDevice >>= equal "host" True
  _ <- getDefaultDevice
  pure ()

wallTime :: IO ()
wallTime = do
  before <- getWallTime
  threadDelay 2000
  after <- getWallTime
  tick <- getWallTick
  equal "seconds" True (after - before >= 0.002 && tick > 0 && tick < 1)

counts :: IO ()
counts = do
  before <- statistics
  _ <- withCallback Released pure $ \f -> regionTasks f 2 100
  _ <- regionCompute 4 10
  after <- statistics
  equal "regions" 2 (statRegions after - statRegions before)
  equal "tasks" 100 (statTasks after - statTasks before)
  equal "a team of four" True (statLargestTeam after >= 4 && statWorkers after >= 3)

unsafeCounts :: IO ()
unsafeCounts = do
  before <- statistics
  _ <- regionCompute 2 1000
  between <- statistics
  equal "safe" (statUnsafeRegions before) (statUnsafeRegions between)
  _ <- unsafeRegionCompute 2 1000000
  after <- statistics
  equal "unsafe" (statUnsafeRegions between + 1) (statUnsafeRegions after)
  equal "time" True (statUnsafeTime after > statUnsafeTime between)

paused :: IO ()
paused = do
  _ <- regionCompute 3 10
  _ <- pause
  got <- withCallback Kept (\x -> pure (x + 1)) $ \f -> regionSum f 3 10
  equal "sum" 165 got
