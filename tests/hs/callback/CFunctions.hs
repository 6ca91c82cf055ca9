{-# LANGUAGE ForeignFunctionInterface #-}

-- | The C functions of regions.c.
module CFunctions
  ( Real1,
    regionSum,
    unsafeRegionSum,
    serialSum,
    regionFold,
    regionRush,
    regionRushAndMeet,
    regionRushAndWrap,
    Mixed,
    callMixed,
    callNarrow,
    callFloat,
    regionBarriers,
    regionLocks,
    regionTestedLocks,
    teamInChild,
    regionTasks,
    regionNested,
    regionIdentity,
    regionCancellable,
    callInChild,
    regionSize,
    largestSize,
    narrowMembers,
    regionUntil,
    regionCompute,
    unsafeRegionCompute,
    regionOfOne,
    passWord,
    regionTask,
    regionDetach,
    callTeams,
    setFormat,
    wrap,
  )
where

import Capstan.OpenMP (EventHandle)
import Data.Int
import Data.Word
import Foreign.C.String (CString)
import Foreign.C.Types
import Foreign.Ptr

type Real1 = Double -> IO Double

foreign import ccall safe "region_sum" regionSum :: FunPtr Real1 -> CInt -> CInt -> IO Double

foreign import ccall unsafe "region_sum" unsafeRegionSum :: FunPtr Real1 -> CInt -> CInt -> IO Double

foreign import ccall safe "region_rush"
  regionRush :: FunPtr Real1 -> CInt -> CInt -> Ptr CInt -> Ptr CInt -> IO Double

foreign import ccall safe "region_rush_and_meet"
  regionRushAndMeet :: FunPtr Real1 -> CInt -> CInt -> CInt -> IO Double

foreign import ccall safe "region_rush_and_wrap"
  regionRushAndWrap :: FunPtr Real1 -> FunPtr Real1 -> CInt -> CInt -> CInt -> IO Double

foreign import ccall safe "serial_sum" serialSum :: FunPtr Real1 -> CInt -> IO Double

foreign import ccall safe "region_fold"
  regionFold :: FunPtr (Ptr a -> Int64 -> IO Int64) -> Ptr a -> CInt -> Int64 -> IO Int64

type Mixed =
  Int8 -> Double -> Word16 -> Float -> Int32 -> Double -> Int64 -> Float -> Word64 -> Double -> Int16 -> Double -> CInt -> Double -> CLong -> Double -> Float -> Double -> CSChar -> CFloat -> IO Double

foreign import ccall safe "call_mixed" callMixed :: FunPtr Mixed -> IO Double

foreign import ccall safe "call_narrow" callNarrow :: FunPtr (Int8 -> IO Int8) -> IO CInt

foreign import ccall safe "call_float" callFloat :: FunPtr (Float -> IO Float) -> IO Float

foreign import ccall safe "region_barriers" regionBarriers :: FunPtr Real1 -> CInt -> CInt -> IO CInt

foreign import ccall safe "region_locks" regionLocks :: FunPtr Real1 -> CInt -> CInt -> IO CInt

foreign import ccall safe "region_tested_locks" regionTestedLocks :: FunPtr Real1 -> CInt -> CInt -> IO CInt

foreign import ccall safe "region_tasks" regionTasks :: FunPtr Real1 -> CInt -> CInt -> IO Double

foreign import ccall safe "region_nested" regionNested :: FunPtr Real1 -> CInt -> CInt -> CInt -> IO Double

foreign import ccall safe "region_identity" regionIdentity :: FunPtr Real1 -> CInt -> CInt -> IO CInt

foreign import ccall safe "region_cancellable" regionCancellable :: FunPtr Real1 -> CInt -> CInt -> IO CInt

foreign import ccall safe "call_in_child" callInChild :: FunPtr Real1 -> IO CInt

foreign import ccall safe "team_in_child" teamInChild :: CInt -> IO CInt

foreign import ccall safe "region_size" regionSize :: IO CInt

foreign import ccall safe "largest_size" largestSize :: CInt -> IO CInt

foreign import ccall safe "region_until" regionUntil :: CInt -> Ptr CInt -> IO ()

foreign import ccall safe "region_compute" regionCompute :: CInt -> CInt -> IO Double

foreign import ccall unsafe "region_compute" unsafeRegionCompute :: CInt -> CInt -> IO Double

foreign import ccall safe "region_of_one" regionOfOne :: FunPtr Real1 -> CInt -> CInt -> IO Double

foreign import ccall safe "pass_word" passWord :: FunPtr (Int64 -> IO Int64) -> Int64 -> IO Int64

foreign import ccall safe "region_task" regionTask :: FunPtr (IO ()) -> CInt -> CBool -> IO ()

foreign import ccall safe "region_detach"
  regionDetach :: FunPtr (EventHandle -> IO ()) -> FunPtr Real1 -> CInt -> IO Double

-- | Sets the affinity format like C code of the program, without a check.
foreign import ccall unsafe "omp_set_affinity_format" setFormat :: CString -> IO ()

foreign import ccall safe "narrow_members" narrowMembers :: CInt -> IO CInt

foreign import ccall safe "call_teams" callTeams :: FunPtr (IO ()) -> CInt -> IO ()

foreign import ccall "wrapper" wrap :: Real1 -> IO (FunPtr Real1)
