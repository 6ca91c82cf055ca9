{-# LANGUAGE ForeignFunctionInterface #-}

-- |
-- Module      : Capstan.OpenMP.Foreign
-- Description : The foreign calls of "Capstan.OpenMP"
--
-- This module is internal: it may change without notice.
module Capstan.OpenMP.Foreign
  ( setNumThreads,
    getMaxThreads,
    setDynamic,
    getDynamic,
    setSchedule,
    askSchedule,
    setMaxActiveLevels,
    getMaxActiveLevels,
    getNumProcs,
    askThreadLimit,
    askLevel,
    askActiveLevel,
    askCancellation,
    askProcBind,
    askNumPlaces,
    askPlaceNumProcs,
    askPlaceProcIds,
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
import Foreign.C.Types (CInt (..))
import Foreign.Ptr (Ptr)

foreign import ccall unsafe "omp_set_num_threads" setNumThreads :: CInt -> IO ()

foreign import ccall unsafe "omp_get_max_threads" getMaxThreads :: IO CInt

foreign import ccall unsafe "omp_set_dynamic" setDynamic :: CInt -> IO ()

foreign import ccall unsafe "omp_get_dynamic" getDynamic :: IO CInt

foreign import ccall unsafe "omp_set_schedule" setSchedule :: Int32 -> CInt -> IO ()

foreign import ccall unsafe "omp_get_schedule" askSchedule :: Ptr Int32 -> Ptr CInt -> IO ()

foreign import ccall unsafe "omp_set_max_active_levels" setMaxActiveLevels :: CInt -> IO ()

foreign import ccall unsafe "omp_get_max_active_levels" getMaxActiveLevels :: IO CInt

foreign import ccall unsafe "omp_get_num_procs" getNumProcs :: IO CInt

foreign import ccall unsafe "omp_get_thread_limit" askThreadLimit :: IO CInt

foreign import ccall unsafe "omp_get_level" askLevel :: IO CInt

foreign import ccall unsafe "omp_get_active_level" askActiveLevel :: IO CInt

foreign import ccall unsafe "omp_get_cancellation" askCancellation :: IO CInt

foreign import ccall unsafe "omp_get_proc_bind" askProcBind :: IO CInt

foreign import ccall unsafe "omp_get_num_places" askNumPlaces :: IO CInt

foreign import ccall unsafe "omp_get_place_num_procs" askPlaceNumProcs :: CInt -> IO CInt

foreign import ccall unsafe "omp_get_place_proc_ids" askPlaceProcIds :: CInt -> Ptr CInt -> IO ()

-- Waits for threads that end.
foreign import ccall safe "omp_pause_resource_all" pauseAll :: CInt -> IO CInt

foreign import ccall unsafe "cst_settings_save" settingsSave :: Ptr () -> IO ()

foreign import ccall unsafe "cst_settings_restore" settingsRestore :: Ptr () -> IO ()

foreign import ccall unsafe "cst_statistics" askStatistics :: Ptr () -> IO ()

-- | As in runtime/abi/capstan/settings.h.
settingsSize, statisticsSize :: Int
settingsSize = 32
statisticsSize = 56
