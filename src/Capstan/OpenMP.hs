-- |
-- Module      : Capstan.OpenMP
-- Description : OpenMP's settings and questions, with types
-- Stability   : experimental
--
-- What @omp.h@ offers a C program to set and to ask, for Haskell code that calls OpenMP code; and what
-- the runtime has done so far.
--
-- Settings belong to an OS thread, and in a region to the current task: that is OpenMP's rule. A
-- Haskell thread that is not bound (made by 'Control.Concurrent.forkIO') has no OS thread of its
-- own, so it cannot have settings of its own either; 'withSettings' gives it one for as long as it
-- needs them:
--
-- > blur image = withThreads 4 (c_blur image)        -- foreign import ccall safe "blur"
-- > solve system = withSettings defaultSettings {settingsSchedule = Just (Guided 8), settingsDynamic = Just False} (c_solve system)
--
-- All questions are answered at the cost of an unsafe foreign call, 2 to 5 ns if nothing else is said, for
-- the OS thread that runs the asking code: so those about the current region are for callbacks. None
-- blocks or fails. A number that C cannot take counts as the nearest that it can. Thread and team numbers at the cost of a load: "Capstan.Prim". Memory and
-- locks of OpenMP are C's own; Haskell code has "Capstan.Array" and 'Control.Concurrent.MVar.MVar'.
--
-- A region that was entered by a @safe@ foreign import keeps nobody from collecting garbage, and ends
-- on its own: 'System.Timeout.timeout' and 'Control.Concurrent.killThread' wait until the foreign call
-- has returned. "Capstan.Callback" has a way to interrupt a region that calls back. An @unsafe@ foreign
-- import runs regions as well, but every collection waits for its end: 'statistics' says for how long.
--
-- With @+RTS -l@ (in a program linked with @-threaded@, before GHC 9.4 also with @-eventlog@; not with GHC's
-- libraries linked dynamically) GHC's event log has a marker where a region begins and ends, and user events for
-- barriers and tasks, each with the number of the thread and the size of its team: see them in
-- ThreadScope, beside collections and green threads. An event costs about a microsecond then, and a load
-- and a branch otherwise.
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

-- | How the iterations of a loop are given to the threads of a team where the program leaves it to
-- the runtime (@schedule(runtime)@). The number is the chunk: how many at once.
data Schedule
  = -- | Equal shares, or chunks in turn.
    Static (Maybe Int)
  | -- | To whoever asks next.
    Dynamic Int
  | -- | The same, large chunks first; the number is the smallest.
    Guided Int
  | -- | As the runtime thinks best.
    Auto
  deriving (Eq, Ord, Show, Read)

-- | What can be set. 'Nothing' leaves it as it is.
data Settings = Settings
  { -- | How many threads a region has that does not say so itself (@OMP_NUM_THREADS@). Obeyed, even if
    -- there are fewer processors.
    settingsThreads :: Maybe Int,
    -- | May the runtime give a region fewer threads than 'getMaxThreads' says (@OMP_DYNAMIC@)? By default it may not.
    -- With 'True', a region that names no number gets only processors on which neither Haskell nor another
    -- region runs. A library that counts on the number that it was told then waits for ever for the missing
    -- threads; OpenBLAS is one. With 'False' each OS thread keeps a team of its own, so that @threadprivate@
    -- variables persist from one of its regions to the next; by default OS threads share teams.
    settingsDynamic :: Maybe Bool,
    -- | @OMP_SCHEDULE@.
    settingsSchedule :: Maybe Schedule,
    -- | How many levels of regions in regions have more than one thread (@OMP_MAX_ACTIVE_LEVELS@).
    settingsActiveLevels :: Maybe Int
  }
  deriving (Eq, Show)

-- | Leaves all as it is.
defaultSettings :: Settings
defaultSettings = Settings Nothing Nothing Nothing Nothing

-- | Runs an action with settings, on one OS thread, and restores them: exactly, also those that the
-- action or its C code has set. They hold for regions that the action opens, not for threads that
-- it forks.
--
-- Costs about 50 ns on a bound thread (@main@, 'Control.Concurrent.forkOS', a callback). For another
-- thread the action runs in a new bound one, 2 to 4 µs: an exception that is thrown to the caller, as by
-- @timeout@, is thrown to the action, which gets it when its foreign call has returned, and
-- 'Control.Concurrent.myThreadId' is the new one. Without the threaded RTS there is one OS thread, so other
-- Haskell threads see the settings meanwhile.
withSettings :: Settings -> IO a -> IO a
withSettings settings action = do
  bound <- isCurrentThreadBound
  (if bound || not rtsSupportsBoundThreads then id else runBound) $
    allocaBytes settingsSize $ \saved ->
      bracket_ (settingsSave saved) (settingsRestore saved) (apply settings >> action)

-- | 'withSettings' for the number of threads; less than one means one.
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

-- | The settings of the calling OS thread; none is 'Nothing'. The number of threads is the most that a
-- region here would have.
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

-- | The most threads that a region would have that is entered here and does not say how many it wants.
getMaxThreads :: IO Int
getMaxThreads = fromIntegral <$> askMaxThreads

-- | Processors that the program may use: by its affinity mask and its control group's quota.
getProcessors :: IO Int
getProcessors = fromIntegral <$> getNumProcs

-- | The most threads that may work together on one of the program's own threads' behalf
-- (@OMP_THREAD_LIMIT@); a very large number if there is no limit.
getThreadLimit :: IO Int
getThreadLimit = fromIntegral <$> askThreadLimit

-- | In how many regions the calling code is: 0 outside.
getLevel :: IO Int
getLevel = fromIntegral <$> askLevel

-- | In how many regions with more than one thread.
getActiveLevel :: IO Int
getActiveLevel = fromIntegral <$> askActiveLevel

-- | How many levels of regions may have more than one thread, from here on.
getMaxActiveLevels :: IO Int
getMaxActiveLevels = fromIntegral <$> askMaxActiveLevels

-- | The most that 'settingsActiveLevels' can be.
getSupportedActiveLevels :: IO Int
getSupportedActiveLevels = fromIntegral <$> askSupportedActiveLevels

-- | The number, in the team of that level, of the thread from which the calling one descends: 0 at level
-- 0, 'threadNumber' at 'getLevel'. 'Nothing' where there is no such level.
--
-- > path :: IO [Int]
-- > path = getLevel >>= \level -> catMaybes <$> mapM getAncestor [0 .. level]
getAncestor :: Int -> IO (Maybe Int)
getAncestor = fmap natural . askAncestorThreadNum . nearest

-- | How many threads are in the team of that level. 'Nothing' where there is no such level.
getTeamSize :: Int -> IO (Maybe Int)
getTeamSize = fmap natural . askTeamSize . nearest

-- | The nearest number that C can take.
nearest :: Int -> CInt
nearest = fromIntegral . max (fromIntegral (minBound :: CInt)) . min (fromIntegral (maxBound :: CInt))

-- | OpenMP answers -1 for "none".
natural :: CInt -> Maybe Int
natural n = if n < 0 then Nothing else Just (fromIntegral n)

-- | Whether the calling code belongs to a final task, whose tasks are executed at once.
inFinal :: IO Bool
inFinal = (/= 0) <$> askInFinal

-- | Whether it belongs to a task that a @task@ construct made.
inExplicitTask :: IO Bool
inExplicitTask = (/= 0) <$> askInExplicitTask

-- | The highest priority that a task can have (@OMP_MAX_TASK_PRIORITY@); 0 if tasks have none.
getMaxTaskPriority :: IO Int
getMaxTaskPriority = fromIntegral <$> askMaxTaskPriority

-- | Fulfils an event: its task is complete once its body has ended as well. From any thread, once for each
-- event, and not after its region has ended. Costs some 100 ns, and whatever it costs to wake a thread if
-- one waits for the task. Throws an 'IOError' (invalid argument) for a handle that no clause has filled: a null pointer.
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
  = -- | They may move.
    Free
  | -- | They may not.
    Bound
  | -- | All where the region's first thread is.
    Primary
  | -- | Near it.
    Close
  | -- | As far apart as can be.
    Spread
  deriving (Eq, Ord, Show, Read, Enum, Bounded)

-- | Of the calling OS thread's next region.
getProcBind :: IO ProcBind
getProcBind = toEnum . fromIntegral <$> askProcBind

-- | The places that threads can be bound to (@OMP_PLACES@), each the numbers of its processors. Empty
-- if there are none. Takes about 10 ns for each place.
getPlaces :: IO [[Int]]
getPlaces = getPlaceCount >>= \count -> mapM getPlaceProcessors [0 .. count - 1]

-- | How many places there are.
getPlaceCount :: IO Int
getPlaceCount = fromIntegral <$> askNumPlaces

-- | The numbers of the processors of the place with that number, from 0. Empty where there is no such
-- place.
getPlaceProcessors :: Int -> IO [Int]
getPlaceProcessors number = do
  n <- fromIntegral <$> askPlaceNumProcs place
  numbers n (askPlaceProcIds place)
  where
    place = nearest number

-- | So many numbers that C writes.
numbers :: Int -> (Ptr CInt -> IO ()) -> IO [Int]
numbers n write = allocaArray n $ \p -> write p >> map fromIntegral <$> peekArray n p

-- | The place that the calling OS thread is bound to. 'Nothing' if it is to none.
getPlaceNumber :: IO (Maybe Int)
getPlaceNumber = natural <$> askPlaceNum

-- | The places that the threads of a region entered here can be bound to. Empty if there are none.
getPartition :: IO [Int]
getPartition = do
  n <- fromIntegral <$> askPartitionNumPlaces
  numbers n askPartitionPlaceNums

-- | How a thread's affinity is told (@OMP_AFFINITY_FORMAT@); of the process.
getAffinityFormat :: IO String
getAffinityFormat = text getFormat

-- | Sets that. Costs 1 µs. Throws an 'IOError' (invalid argument) if the format has a field that OpenMP does not know.
setAffinityFormat :: String -> IO ()
setAffinityFormat format = withCString format $ \f -> checkFormat "setAffinityFormat" f >> setFormat f

-- | The calling OS thread's affinity, in that format or another. Costs 2 µs. Throws an 'IOError' (invalid argument) if the
-- format has a field that OpenMP does not know, also that of the process, which the environment or C code may have set.
--
-- > captureAffinity (Just "thread %0.3n of %N on %{thread_affinity}") >>= putStrLn
captureAffinity :: Maybe String -> IO String
captureAffinity format = withFormat "captureAffinity" format $ \f -> text (\p size -> capture p size f)

-- | Prints it, in the process's format. Throws as 'captureAffinity' does.
displayAffinity :: IO ()
displayAffinity = withFormat "displayAffinity" Nothing display

-- | How many teams execute the @teams@ construct around the calling code: 1 outside of any.
getTeamCount :: IO Int
getTeamCount = fromIntegral <$> askNumTeams

-- | Which of them calls, from 0.
getTeamNumber :: IO Int
getTeamNumber = fromIntegral <$> askTeamNum

-- | The most teams that a @teams@ construct has which does not say how many it wants; 0 if there is no limit.
-- Of the process.
getMaxTeams :: IO Int
getMaxTeams = fromIntegral <$> askMaxTeams

-- | Sets that.
setMaxTeams :: Int -> IO ()
setMaxTeams = setTeams . nearest . max 0

-- | The most threads of such a team; 0 if there is no limit. Of the process.
getTeamsThreadLimit :: IO Int
getTeamsThreadLimit = fromIntegral <$> askTeamsThreadLimit

-- | Sets that.
setTeamsThreadLimit :: Int -> IO ()
setTeamsThreadLimit = setTeamsLimit . nearest . max 0

-- | Devices other than the host: 0, for this runtime knows none. @target@ regions run on the host.
getDeviceCount :: IO Int
getDeviceCount = fromIntegral <$> askNumDevices

-- | The device of @target@ regions that name none (@OMP_DEFAULT_DEVICE@). There is no call that sets it,
-- because the host is the only device and all such regions run there, whatever the number.
getDefaultDevice :: IO Int
getDefaultDevice = fromIntegral <$> askDefaultDevice

-- | The number of the host: that of no other device.
getInitialDevice :: IO Int
getInitialDevice = fromIntegral <$> askInitialDevice

-- | The number of the device that runs the calling code.
getDevice :: IO Int
getDevice = fromIntegral <$> askDeviceNum

-- | Whether it is the host, which it always is.
isInitialDevice :: IO Bool
isInitialDevice = (/= 0) <$> askIsInitialDevice

-- | Seconds since some moment in the past, by a clock that is never set back. Costs 25 ns.
getWallTime :: IO Double
getWallTime = wtime

-- | The clock's resolution in seconds.
getWallTick :: IO Double
getWallTick = wtick

-- | What the runtime has done since the program began.
data Statistics = Statistics
  { -- | Regions that were opened, also those of one thread.
    statRegions :: !Word64,
    -- | Explicit tasks that were made.
    statTasks :: !Word64,
    -- | OS threads that were made for teams.
    statWorkers :: !Word64,
    -- | Threads of the largest team; 0 if there was none.
    statLargestTeam :: !Word64,
    -- | Threads that execute regions now.
    statBusy :: !Word64,
    -- | Regions entered by unsafe foreign calls: each held up every collection that was wanted
    -- meanwhile. Counted from the first callback or the first call of 'statistics' on.
    statUnsafeRegions :: !Word64,
    -- | How long those took, all together: the most that collections can have waited.
    statUnsafeTime :: !Duration
  }
  deriving (Eq, Show)

-- | Costs about 100 ns and some for each OS thread that has used OpenMP. While regions run, the numbers may
-- be a moment old.
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

-- | Ends the threads of teams that are not in use, so that their memory is free; the next region makes
-- them anew (about 30 µs each). 'False' if some were in use and stayed.
pause :: IO Bool
pause = (== 0) <$> pauseAll 1

-- | Prints the settings that the program began with, as @OMP_DISPLAY_ENV@ does, to standard error; with the
-- runtime's own, if so wanted.
displayEnvironment :: Bool -> IO ()
displayEnvironment = displayEnv . fromIntegral . fromEnum
