-- |
-- Module      : Capstan.OpenMP
-- Description : OpenMP's settings and questions, with types
-- Stability   : experimental
--
-- The settings and queries of @omp.h@, for Haskell code that calls OpenMP code, and statistics of
-- the runtime.
--
-- OpenMP's settings belong to an OS thread, and in a region to the current task. A Haskell thread
-- that is not bound (made by 'Control.Concurrent.forkIO') has no OS thread of its own, so it has no
-- settings of its own either. 'withSettings' gives it an OS thread while its action runs:
--
-- > blur image = withThreads 4 (c_blur image)        -- foreign import ccall safe "blur"
-- > solve system = withSettings defaultSettings {settingsSchedule = Just (Guided 8), settingsDynamic = Just False} (c_solve system)
--
-- A query costs an unsafe foreign call, 2 to 5 ns if its description names no other cost. It
-- answers for the OS thread that runs the code: so queries about the current region are useful in
-- callbacks. No query blocks or fails. A number that C cannot represent counts as the nearest
-- number that it can. "Capstan.Prim" has thread and team numbers at the cost of a load. OpenMP's
-- functions for memory and locks have no counterpart here; Haskell code has "Capstan.Array" and
-- 'Control.Concurrent.MVar.MVar'.
--
-- A region that runs in a @safe@ foreign call does not delay garbage collection. An asynchronous
-- exception does not end it: 'System.Timeout.timeout' and 'Control.Concurrent.killThread' wait
-- until the foreign call has returned. "Capstan.Callback" has a way to interrupt a region that
-- calls back. An @unsafe@ foreign call may run regions as well, but every collection waits for its
-- end: 'statistics' says for how long.
--
-- With @+RTS -l@, GHC's event log has a marker where a region begins and ends, and user events for
-- barriers and tasks. Each event has the number of the thread and the size of its team. ThreadScope
-- shows them beside collections and green threads. The program must be linked with @-threaded@,
-- before GHC 9.4 also with @-eventlog@, and not with GHC's libraries as shared libraries. An event
-- costs about a microsecond if the log is on, and a load and a branch otherwise.
--
-- @since 0.1.0
module Capstan.OpenMP
  ( -- * Settings
    Settings (..),
    defaultSettings,
    withSettings,
    withThreads,
    Schedule (..),

    -- * Threads and teams
    getSettings,
    getMaxThreads,
    getProcessors,
    getThreadLimit,
    threadNumber,
    teamSize,
    inParallel,

    -- * Regions in regions
    getLevel,
    getActiveLevel,
    getMaxActiveLevels,
    getSupportedActiveLevels,
    getAncestor,
    getTeamSize,

    -- * Tasks
    inFinal,
    inExplicitTask,
    getMaxTaskPriority,
    EventHandle (..),
    fulfillEvent,
    getCancellation,

    -- * Places
    ProcBind (..),
    getProcBind,
    getPlaces,
    getPlaceCount,
    getPlaceProcessors,
    getPlaceNumber,
    getPartition,
    getAffinityFormat,
    setAffinityFormat,
    captureAffinity,
    displayAffinity,

    -- * Teams of the @teams@ construct
    getTeamCount,
    getTeamNumber,
    getMaxTeams,
    setMaxTeams,
    getTeamsThreadLimit,
    setTeamsThreadLimit,

    -- * Devices
    getDeviceCount,
    getDefaultDevice,
    getInitialDevice,
    getDevice,
    isInitialDevice,

    -- * Time
    getWallTime,
    getWallTick,

    -- * Statistics
    Statistics (..),
    statistics,
    pause,
    displayEnvironment,
  )
where

import Capstan.Duration (Duration, nanoseconds)
import Capstan.Internal.Bound (runBound)
import Capstan.Internal.EventHandle (EventHandle (..))
import Capstan.OpenMP.Foreign
import Capstan.OpenMP.Text (checkFormat, refuse, text, withFormat)
import Capstan.Prim (inParallel, teamSize, threadNumber)
import Control.Concurrent (isCurrentThreadBound, rtsSupportsBoundThreads)
import Control.Exception (bracket_)
import Data.Int (Int32)
import Data.Word (Word64)
import Foreign.C.String (withCString)
import Foreign.C.Types (CInt)
import Foreign.Marshal.Alloc (alloca, allocaBytes)
import Foreign.Marshal.Array (allocaArray, peekArray)
import Foreign.Ptr (Ptr, nullPtr)
import Foreign.Storable (peek, peekByteOff)

-- | How a loop with @schedule(runtime)@ gives its iterations to the threads of a team. The number
-- is the chunk: the iterations that a thread takes at a time.
data Schedule
  = -- | Equal shares, or chunks in turn.
    Static (Maybe Int)
  | -- | A thread that is free takes the next chunk.
    Dynamic Int
  | -- | As 'Dynamic', but with large chunks first; the number is the smallest chunk.
    Guided Int
  | -- | The runtime chooses.
    Auto
  deriving (Eq, Ord, Show, Read)

-- | Settings of OpenMP. 'Nothing' leaves a setting as it is.
data Settings = Settings
  { -- | The number of threads of a region that names no number itself (@OMP_NUM_THREADS@). The
    -- region gets that number even if it exceeds the number of processors.
    settingsThreads :: Maybe Int,
    -- | May the runtime give a region fewer threads than 'getMaxThreads' says (@OMP_DYNAMIC@)? By
    -- default it may not. With 'True', a region that names no number gets only processors on which
    -- neither Haskell nor another region runs. A library that relies on the number of
    -- 'getMaxThreads' there waits for ever for the missing threads. OpenBLAS names the number in
    -- its regions, and gets it. With 'False' each OS thread keeps a team of its own, so that
    -- @threadprivate@ variables persist from one of its regions to the next; by default OS threads
    -- share teams.
    settingsDynamic :: Maybe Bool,
    -- | @OMP_SCHEDULE@.
    settingsSchedule :: Maybe Schedule,
    -- | The number of nested levels at which regions have more than one thread
    -- (@OMP_MAX_ACTIVE_LEVELS@).
    settingsActiveLevels :: Maybe Int
  }
  deriving (Eq, Show)

-- | Leaves all settings as they are.
defaultSettings :: Settings
defaultSettings = Settings Nothing Nothing Nothing Nothing

-- | Runs an action with settings, on one OS thread. Afterwards it restores the old settings
-- exactly, also those that the action or its C code has changed. The settings hold for regions that
-- the action opens, not for threads that it forks.
--
-- Costs about 50 ns on a bound thread (@main@, 'Control.Concurrent.forkOS', a callback). For a
-- thread that is not bound, the action runs in a new bound thread, which costs 2 to 4 µs. In the
-- action, 'Control.Concurrent.myThreadId' is the new thread. An exception that is thrown to the
-- caller, as by @timeout@, is passed on to the action. The action gets it when its foreign call has
-- returned. Without the threaded RTS there is one OS thread, so other Haskell threads see the
-- settings meanwhile.
withSettings :: Settings -> IO a -> IO a
withSettings settings action = do
  bound <- isCurrentThreadBound
  (if bound || not rtsSupportsBoundThreads then id else runBound) $
    allocaBytes settingsSize $ \saved ->
      bracket_ (settingsSave saved) (settingsRestore saved) (apply settings >> action)

-- | 'withSettings' for the number of threads; a number below 1 counts as 1.
--
-- > withThreads 2 (c_transform input output)
withThreads :: Int -> IO a -> IO a
withThreads n = withSettings defaultSettings {settingsThreads = Just n}

apply :: Settings -> IO ()
apply settings = do
  -- C refuses more threads than Linux has numbers for (@CST_MOST_THREADS@), with a message.
  mapM_ (setNumThreads . nearest . max 1 . min 4194304) (settingsThreads settings)
  mapM_ (setDynamic . fromIntegral . fromEnum) (settingsDynamic settings)
  mapM_ applySchedule (settingsSchedule settings)
  mapM_ (setMaxActiveLevels . nearest . max 0) (settingsActiveLevels settings)

-- | With @omp_sched_t@'s numbers.
applySchedule :: Schedule -> IO ()
applySchedule s = case s of
  Static chunk -> setSchedule 1 (maybe 0 nearest chunk)
  Dynamic chunk -> setSchedule 2 (nearest chunk)
  Guided chunk -> setSchedule 3 (nearest chunk)
  Auto -> setSchedule 4 0

-- | The settings of the calling OS thread; no field is 'Nothing'. The number of threads is that of
-- 'getMaxThreads'.
getSettings :: IO Settings
getSettings = do
  n <- askMaxThreads
  d <- getDynamic
  s <- alloca $ \kind -> alloca $ \chunk -> do
    askSchedule kind chunk
    asSchedule <$> peek kind <*> peek chunk
  Settings (Just (fromIntegral n)) (Just (d /= 0)) (Just s) . Just . fromIntegral <$> askMaxActiveLevels
  where
    -- The upper bit says that chunks come in order.
    asSchedule :: Int32 -> CInt -> Schedule
    asSchedule kind chunk = case kind `mod` 0x40000000 of
      1 -> Static (if chunk > 0 then Just (fromIntegral chunk) else Nothing)
      2 -> Dynamic (max 1 (fromIntegral chunk))
      3 -> Guided (max 1 (fromIntegral chunk))
      _ -> Auto

-- | The largest number of threads that a region gets if it starts here and names no number.
getMaxThreads :: IO Int
getMaxThreads = fromIntegral <$> askMaxThreads

-- | The number of processors that the program may use, by its affinity mask and the quota of its
-- control group.
getProcessors :: IO Int
getProcessors = fromIntegral <$> getNumProcs

-- | The largest number of threads that work for one initial thread at a time (@OMP_THREAD_LIMIT@).
-- A very large number if there is no limit.
getThreadLimit :: IO Int
getThreadLimit = fromIntegral <$> askThreadLimit

-- | The number of regions around the calling code: 0 outside of regions.
getLevel :: IO Int
getLevel = fromIntegral <$> askLevel

-- | The number of regions around the calling code that have more than one thread.
getActiveLevel :: IO Int
getActiveLevel = fromIntegral <$> askActiveLevel

-- | The number of nested levels at which regions may have more than one thread.
getMaxActiveLevels :: IO Int
getMaxActiveLevels = fromIntegral <$> askMaxActiveLevels

-- | The largest value that 'settingsActiveLevels' can have.
getSupportedActiveLevels :: IO Int
getSupportedActiveLevels = fromIntegral <$> askSupportedActiveLevels

-- | The number that the calling thread or its ancestor has in the team of the given level: 0 at
-- level 0, 'threadNumber' at 'getLevel'. 'Nothing' if there is no such level.
--
-- > path :: IO [Int]
-- > path = getLevel >>= \level -> catMaybes <$> mapM getAncestor [0 .. level]
getAncestor :: Int -> IO (Maybe Int)
getAncestor = fmap natural . askAncestorThreadNum . nearest

-- | The number of threads in the team of the given level. 'Nothing' if there is no such level.
getTeamSize :: Int -> IO (Maybe Int)
getTeamSize = fmap natural . askTeamSize . nearest

-- | The nearest number that a C @int@ can represent.
nearest :: Int -> CInt
nearest = fromIntegral . max (fromIntegral (minBound :: CInt)) . min (fromIntegral (maxBound :: CInt))

-- | OpenMP answers -1 for "none".
natural :: CInt -> Maybe Int
natural n = if n < 0 then Nothing else Just (fromIntegral n)

-- | Whether the calling code belongs to a final task, whose tasks are executed at once.
inFinal :: IO Bool
inFinal = (/= 0) <$> askInFinal

-- | Whether the calling code belongs to a task that a @task@ construct made.
inExplicitTask :: IO Bool
inExplicitTask = (/= 0) <$> askInExplicitTask

-- | The highest priority that a task can have (@OMP_MAX_TASK_PRIORITY@); 0 if tasks have none.
getMaxTaskPriority :: IO Int
getMaxTaskPriority = fromIntegral <$> askMaxTaskPriority

-- | Fulfils an event: its task is complete once its body has ended as well. Any thread may call
-- this, once for each event, and before the event's region has ended. Costs some 100 ns, plus the
-- cost of waking a thread if a thread waits for the task. Throws an 'IOError' (invalid argument)
-- for a null handle, which no clause has filled.
--
-- > foreign import ccall safe "start_transfer"
-- >   c_start :: FunPtr (EventHandle -> IO ()) -> IO ()
-- >
-- > transfer :: (IO () -> IO ()) -> IO ()
-- > transfer whenDone = withCallback Released (whenDone . fulfillEvent) c_start
fulfillEvent :: EventHandle -> IO ()
fulfillEvent (EventHandle event)
  | event == nullPtr = refuse "fulfillEvent" "the handle is null: no detach clause has filled it"
  | otherwise = fulfill event

-- | Whether regions can be cancelled (@OMP_CANCELLATION=true@ when the program started).
getCancellation :: IO Bool
getCancellation = (/= 0) <$> askCancellation

-- | Whether threads stay where they are (@OMP_PROC_BIND@).
data ProcBind
  = -- | Threads may move.
    Free
  | -- | Threads may not move.
    Bound
  | -- | All threads run on the place of the region's primary thread.
    Primary
  | -- | Threads run on places near the primary thread.
    Close
  | -- | Threads run on places as far apart as possible.
    Spread
  deriving (Eq, Ord, Show, Read, Enum, Bounded)

-- | The binding of the calling OS thread's next region.
getProcBind :: IO ProcBind
getProcBind = toEnum . fromIntegral <$> askProcBind

-- | The places that threads can be bound to (@OMP_PLACES@): for each place the numbers of its
-- processors. Empty if there are no places. Costs about 10 ns for each place.
getPlaces :: IO [[Int]]
getPlaces = getPlaceCount >>= \count -> mapM getPlaceProcessors [0 .. count - 1]

-- | The number of places.
getPlaceCount :: IO Int
getPlaceCount = fromIntegral <$> askNumPlaces

-- | The numbers of the processors of a place. Places are numbered from 0. Empty if there is no such
-- place.
getPlaceProcessors :: Int -> IO [Int]
getPlaceProcessors number = do
  n <- fromIntegral <$> askPlaceNumProcs place
  numbers n (askPlaceProcIds place)
  where
    place = nearest number

-- | The @n@ numbers that a C function writes.
numbers :: Int -> (Ptr CInt -> IO ()) -> IO [Int]
numbers n write = allocaArray n $ \p -> write p >> map fromIntegral <$> peekArray n p

-- | The place that the calling OS thread is bound to. 'Nothing' if it is not bound.
getPlaceNumber :: IO (Maybe Int)
getPlaceNumber = natural <$> askPlaceNum

-- | The places that the threads of a region that starts here can be bound to. Empty if there are no
-- places.
getPartition :: IO [Int]
getPartition = do
  n <- fromIntegral <$> askPartitionNumPlaces
  numbers n askPartitionPlaceNums

-- | The process's format for the affinity of a thread (@OMP_AFFINITY_FORMAT@).
getAffinityFormat :: IO String
getAffinityFormat = text getFormat

-- | Sets the process's affinity format. Costs 1 µs. Throws an 'IOError' (invalid argument) if the
-- format has a field that OpenMP does not know.
setAffinityFormat :: String -> IO ()
setAffinityFormat format = withCString format $ \f -> checkFormat "setAffinityFormat" f >> setFormat f

-- | The calling OS thread's affinity, in the given format, or with 'Nothing' in the process's
-- format. Costs 2 µs. Throws an 'IOError' (invalid argument) if the format has a field that OpenMP
-- does not know. The process's format may have such a field too, as the environment and C code can
-- set it.
--
-- > captureAffinity (Just "thread %0.3n of %N on %{thread_affinity}") >>= putStrLn
captureAffinity :: Maybe String -> IO String
captureAffinity format = withFormat "captureAffinity" format $ \f -> text (\p size -> capture p size f)

-- | Prints the calling OS thread's affinity, in the process's format. Throws as 'captureAffinity'
-- does.
displayAffinity :: IO ()
displayAffinity = withFormat "displayAffinity" Nothing display

-- | The number of teams that execute the @teams@ construct around the calling code: 1 outside of
-- such a construct.
getTeamCount :: IO Int
getTeamCount = fromIntegral <$> askNumTeams

-- | The number of the calling team among the teams of the construct, from 0.
getTeamNumber :: IO Int
getTeamNumber = fromIntegral <$> askTeamNum

-- | The largest number of teams of a @teams@ construct that names no number; 0 if there is no
-- limit. This belongs to the process.
getMaxTeams :: IO Int
getMaxTeams = fromIntegral <$> askMaxTeams

-- | Sets the answer of 'getMaxTeams', for the process.
setMaxTeams :: Int -> IO ()
setMaxTeams = setTeams . nearest . max 0

-- | The largest number of threads in a team of a @teams@ construct; 0 if there is no limit. This
-- belongs to the process.
getTeamsThreadLimit :: IO Int
getTeamsThreadLimit = fromIntegral <$> askTeamsThreadLimit

-- | Sets the answer of 'getTeamsThreadLimit', for the process.
setTeamsThreadLimit :: Int -> IO ()
setTeamsThreadLimit = setTeamsLimit . nearest . max 0

-- | The number of devices other than the host: 0, for this runtime knows no other devices. @target@
-- regions run on the host.
getDeviceCount :: IO Int
getDeviceCount = fromIntegral <$> askNumDevices

-- | The device of @target@ regions that name none (@OMP_DEFAULT_DEVICE@). There is no call that sets it,
-- because the host is the only device and all such regions run there, whatever the number.
getDefaultDevice :: IO Int
getDefaultDevice = fromIntegral <$> askDefaultDevice

-- | The number of the host, which no other device has.
getInitialDevice :: IO Int
getInitialDevice = fromIntegral <$> askInitialDevice

-- | The number of the device that runs the calling code.
getDevice :: IO Int
getDevice = fromIntegral <$> askDeviceNum

-- | Whether the host runs the calling code: always 'True'.
isInitialDevice :: IO Bool
isInitialDevice = (/= 0) <$> askIsInitialDevice

-- | The seconds since some moment in the past, by a clock that never goes back. Costs 25 ns.
getWallTime :: IO Double
getWallTime = wtime

-- | The clock's resolution in seconds.
getWallTick :: IO Double
getWallTick = wtick

-- | Statistics of the runtime since the program began.
data Statistics = Statistics
  { -- | The number of regions that were opened, including regions of one thread.
    statRegions :: !Word64,
    -- | The number of explicit tasks that were made.
    statTasks :: !Word64,
    -- | The number of OS threads that were made for teams.
    statWorkers :: !Word64,
    -- | The number of threads of the largest team; 0 if there was no team.
    statLargestTeam :: !Word64,
    -- | The number of threads that execute regions now.
    statBusy :: !Word64,
    -- | The number of regions in unsafe foreign calls: each such region delays collections until it
    -- ends. Counting starts with the first callback or the first call of 'statistics'.
    statUnsafeRegions :: !Word64,
    -- | The total time of these regions: collections cannot have waited longer.
    statUnsafeTime :: !Duration
  }
  deriving (Eq, Show)

-- | The runtime's statistics. Costs about 100 ns, plus a little for each OS thread that has used
-- OpenMP. While regions run, the numbers may be slightly out of date.
--
-- > before <- statUnsafeTime <$> statistics
-- > program
-- > after <- statUnsafeTime <$> statistics
-- > putStrLn ("collections may have waited for " ++ show (after `since` before))
statistics :: IO Statistics
statistics = do
  prepareCallbacks
  allocaBytes statisticsSize $ \p -> do
    askStatistics p
    Statistics <$> at p 0 <*> at p 1 <*> at p 2 <*> at p 3 <*> at p 4 <*> at p 5 <*> (nanoseconds . fromIntegral <$> at p 6)
  where
    at :: Ptr () -> Int -> IO Word64
    at p i = peekByteOff p (8 * i)

-- | Ends the threads of teams that are not in use, which frees their memory. The next region makes
-- them again (about 30 µs for each thread). Returns 'False' if some teams were in use and stayed.
pause :: IO Bool
pause = (== 0) <$> pauseAll 1

-- | Prints to standard error the settings with which the program began, as @OMP_DISPLAY_ENV@ does.
-- 'True' adds the runtime's own settings.
displayEnvironment :: Bool -> IO ()
displayEnvironment = displayEnv . fromIntegral . fromEnum
