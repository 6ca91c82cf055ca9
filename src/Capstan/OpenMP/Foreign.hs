{-# LANGUAGE ForeignFunctionInterface #-}

-- |
-- Module      : Capstan.OpenMP.Foreign
-- Description : The foreign calls of "Capstan.OpenMP"
module Capstan.OpenMP.Foreign
  ( setNumThreads,
    askMaxThreads,
    setDynamic,
    getDynamic,
    setSchedule,
    askSchedule,
    setMaxActiveLevels,
    askMaxActiveLevels,
    getNumProcs,
    askThreadLimit,
    askLevel,
    askActiveLevel,
    askSupportedActiveLevels,
    askAncestorThreadNum,
    askTeamSize,
    askInFinal,
    askInExplicitTask,
    askMaxTaskPriority,
    fulfill,
    askCancellation,
    askProcBind,
    askNumPlaces,
    askPlaceNumProcs,
    askPlaceProcIds,
    askPlaceNum,
    askPartitionNumPlaces,
    askPartitionPlaceNums,
    formatKnown,
    setFormat,
    getFormat,
    capture,
    display,
    displayEnv,
    askNumTeams,
    askTeamNum,
    askMaxTeams,
    setTeams,
    askTeamsThreadLimit,
    setTeamsLimit,
    askNumDevices,
    askDefaultDevice,
    askInitialDevice,
    askDeviceNum,
    askIsInitialDevice,
    wtime,
    wtick,
    pauseAll,
    settingsSize,
    settingsSave,
    settingsRestore,
    statisticsSize,
    askStatistics,
    prepareCallbacks,
  )
where

import Capstan.Callback.Internal (prepareCallbacks)
import Data.Int (Int32)
import Foreign.C.String (CString)
import Foreign.C.Types (CInt (..), CSize (..))
import Foreign.Ptr (Ptr)

foreign import ccall unsafe "omp_set_num_threads" setNumThreads :: CInt -> IO ()

foreign import ccall unsafe "omp_get_max_threads" askMaxThreads :: IO CInt

foreign import ccall unsafe "omp_set_dynamic" setDynamic :: CInt -> IO ()

foreign import ccall unsafe "omp_get_dynamic" getDynamic :: IO CInt

foreign import ccall unsafe "omp_set_schedule" setSchedule :: Int32 -> CInt -> IO ()

foreign import ccall unsafe "omp_get_schedule" askSchedule :: Ptr Int32 -> Ptr CInt -> IO ()

foreign import ccall unsafe "omp_set_max_active_levels" setMaxActiveLevels :: CInt -> IO ()

foreign import ccall unsafe "omp_get_max_active_levels" askMaxActiveLevels :: IO CInt

foreign import ccall unsafe "omp_get_num_procs" getNumProcs :: IO CInt

foreign import ccall unsafe "omp_get_thread_limit" askThreadLimit :: IO CInt

foreign import ccall unsafe "omp_get_level" askLevel :: IO CInt

foreign import ccall unsafe "omp_get_active_level" askActiveLevel :: IO CInt

foreign import ccall unsafe "omp_get_supported_active_levels" askSupportedActiveLevels :: IO CInt

foreign import ccall unsafe "omp_get_ancestor_thread_num" askAncestorThreadNum :: CInt -> IO CInt

foreign import ccall unsafe "omp_get_team_size" askTeamSize :: CInt -> IO CInt

foreign import ccall unsafe "omp_in_final" askInFinal :: IO CInt

foreign import ccall unsafe "omp_in_explicit_task" askInExplicitTask :: IO CInt

foreign import ccall unsafe "omp_get_max_task_priority" askMaxTaskPriority :: IO CInt

foreign import ccall unsafe "omp_fulfill_event" fulfill :: Ptr () -> IO ()

foreign import ccall unsafe "omp_get_cancellation" askCancellation :: IO CInt

foreign import ccall unsafe "omp_get_proc_bind" askProcBind :: IO CInt

foreign import ccall unsafe "omp_get_num_places" askNumPlaces :: IO CInt

foreign import ccall unsafe "omp_get_place_num_procs" askPlaceNumProcs :: CInt -> IO CInt

foreign import ccall unsafe "omp_get_place_proc_ids" askPlaceProcIds :: CInt -> Ptr CInt -> IO ()

foreign import ccall unsafe "omp_get_place_num" askPlaceNum :: IO CInt

foreign import ccall unsafe "omp_get_partition_num_places" askPartitionNumPlaces :: IO CInt

foreign import ccall unsafe "omp_get_partition_place_nums" askPartitionPlaceNums :: Ptr CInt -> IO ()

-- | Whether C would not end the process.
foreign import ccall unsafe "cst_settings_know_format" formatKnown :: CString -> IO CInt

foreign import ccall unsafe "omp_set_affinity_format" setFormat :: CString -> IO ()

foreign import ccall unsafe "omp_get_affinity_format" getFormat :: CString -> CSize -> IO CSize

foreign import ccall unsafe "omp_capture_affinity" capture :: CString -> CSize -> CString -> IO CSize

-- They write to a file, which may block.
foreign import ccall safe "omp_display_affinity" display :: CString -> IO ()

foreign import ccall safe "omp_display_env" displayEnv :: CInt -> IO ()

foreign import ccall unsafe "omp_get_num_teams" askNumTeams :: IO CInt

foreign import ccall unsafe "omp_get_team_num" askTeamNum :: IO CInt

foreign import ccall unsafe "omp_get_max_teams" askMaxTeams :: IO CInt

foreign import ccall unsafe "omp_set_num_teams" setTeams :: CInt -> IO ()

foreign import ccall unsafe "omp_get_teams_thread_limit" askTeamsThreadLimit :: IO CInt

foreign import ccall unsafe "omp_set_teams_thread_limit" setTeamsLimit :: CInt -> IO ()

foreign import ccall unsafe "omp_get_num_devices" askNumDevices :: IO CInt

foreign import ccall unsafe "omp_get_default_device" askDefaultDevice :: IO CInt

foreign import ccall unsafe "omp_get_initial_device" askInitialDevice :: IO CInt

foreign import ccall unsafe "omp_get_device_num" askDeviceNum :: IO CInt

foreign import ccall unsafe "omp_is_initial_device" askIsInitialDevice :: IO CInt

foreign import ccall unsafe "omp_get_wtime" wtime :: IO Double

foreign import ccall unsafe "omp_get_wtick" wtick :: IO Double

-- Waits for threads that end.
foreign import ccall safe "omp_pause_resource_all" pauseAll :: CInt -> IO CInt

foreign import ccall unsafe "cst_settings_save" settingsSave :: Ptr () -> IO ()

foreign import ccall unsafe "cst_settings_restore" settingsRestore :: Ptr () -> IO ()

foreign import ccall unsafe "cst_statistics" askStatistics :: Ptr () -> IO ()

-- | As in runtime/abi/capstan/settings.h.
settingsSize, statisticsSize :: Int
settingsSize = 32
statisticsSize = 56
