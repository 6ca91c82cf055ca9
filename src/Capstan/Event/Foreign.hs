-- |
-- Module      : Capstan.Event.Foreign
-- Description : The event manager's C calls
--
-- Foreign imports of the calls of @capstan.h@ that "Capstan.Event.Internal" uses. No unsafe call
-- sleeps in the kernel: the manager's locks are held for less than a microsecond, or for one system
-- call that does not block.
module Capstan.Event.Foreign
  ( CManager,
    Record,
    RecordKind,
    recordSize,
    recordFd,
    recordTimer,
    recordPost,
    c_manager_new_pull,
    c_manager_end,
    c_manager_free,
    c_statistics,
    c_fd_register,
    c_fd_change,
    c_fd_unregister,
    c_fd_unregister_all,
    c_fd_closed,
    c_timer_start_at,
    c_timer_reschedule,
    c_timer_cancel,
    c_post,
    c_pull,
    c_pull_waiting,
    c_wake,
    c_shutdown,
    c_clock,
    c_forks,
    c_fulfill_event,
    CFdFunction,
    CTimerFunction,
    CPostFunction,
    callFdFunction,
    callTimerFunction,
    callPostFunction,
  )
where

import Data.Word (Word64, Word8)
import Foreign.C.Types (CInt (..), CSize (..), CUInt (..))
import Foreign.Ptr (FunPtr, Ptr)

-- | @capstan_manager@.
data CManager

-- | @struct capstan_record@. The C code asserts its layout in @runtime\/event\/pull.c@.
data Record

type RecordKind = Word8

recordSize :: Int
recordSize = 48

recordFd, recordTimer, recordPost :: RecordKind
recordFd = 1
recordTimer = 2
recordPost = 3

foreign import ccall unsafe "cst_manager_new_pull"
  c_manager_new_pull :: Ptr (Ptr CManager) -> IO CInt

-- | To be called before 'c_manager_free', for a manager whose address other threads may still have.
foreign import ccall unsafe "cst_manager_end"
  c_manager_end :: Ptr CManager -> IO CInt

foreign import ccall unsafe "&capstan_manager_free"
  c_manager_free :: FunPtr (Ptr CManager -> IO ())

foreign import ccall unsafe "capstan_manager_statistics"
  c_statistics :: Ptr CManager -> Ptr Word64 -> CSize -> IO ()

-- | Returns the name of the registration, or a value of errno; every name is larger than those.
foreign import ccall unsafe "cst_pull_register"
  c_fd_register :: Ptr CManager -> CInt -> CUInt -> Ptr () -> IO Word64

foreign import ccall unsafe "capstan_fd_change"
  c_fd_change :: Ptr CManager -> Word64 -> CUInt -> IO CInt

foreign import ccall unsafe "capstan_fd_unregister"
  c_fd_unregister :: Ptr CManager -> Word64 -> IO CInt

foreign import ccall unsafe "capstan_fd_unregister_all"
  c_fd_unregister_all :: Ptr CManager -> CInt -> IO ()

foreign import ccall unsafe "capstan_fd_closed"
  c_fd_closed :: Ptr CManager -> CInt -> IO ()

-- | Returns the name of the timer, or a value of errno.
foreign import ccall unsafe "cst_pull_start_timer"
  c_timer_start_at :: Ptr CManager -> Word64 -> Word64 -> Ptr () -> IO Word64

foreign import ccall unsafe "capstan_timer_reschedule"
  c_timer_reschedule :: Ptr CManager -> Word64 -> Word64 -> IO CInt

foreign import ccall unsafe "capstan_timer_cancel"
  c_timer_cancel :: Ptr CManager -> Word64 -> IO CInt

foreign import ccall unsafe "capstan_post"
  c_post :: Ptr CManager -> FunPtr CPostFunction -> Ptr () -> IO CInt

-- | For a timeout of 0 only, with which the call does not block.
foreign import ccall unsafe "capstan_pull"
  c_pull :: Ptr CManager -> Ptr Record -> CUInt -> Word64 -> Ptr CUInt -> IO CInt

-- | For any timeout.
foreign import ccall safe "capstan_pull"
  c_pull_waiting :: Ptr CManager -> Ptr Record -> CUInt -> Word64 -> Ptr CUInt -> IO CInt

-- | Makes the current or the next 'c_pull_waiting' return.
foreign import ccall unsafe "cst_manager_wake"
  c_wake :: Ptr CManager -> IO ()

foreign import ccall unsafe "capstan_shutdown"
  c_shutdown :: Ptr CManager -> IO ()

foreign import ccall unsafe "capstan_clock"
  c_clock :: IO Word64

foreign import ccall unsafe "capstan_forks"
  c_forks :: IO CUInt

-- | Makes dependent tasks ready, but runs none of them.
foreign import ccall unsafe "omp_fulfill_event"
  c_fulfill_event :: Ptr () -> IO ()

type CFdFunction = Ptr CManager -> Word64 -> CInt -> CUInt -> Ptr () -> IO ()

type CTimerFunction = Ptr CManager -> Word64 -> Word64 -> Ptr () -> IO ()

type CPostFunction = Ptr CManager -> Ptr () -> IO ()

-- Safe: the user's function may block, and may call back into Haskell.

foreign import ccall safe "dynamic"
  callFdFunction :: FunPtr CFdFunction -> CFdFunction

foreign import ccall safe "dynamic"
  callTimerFunction :: FunPtr CTimerFunction -> CTimerFunction

foreign import ccall safe "dynamic"
  callPostFunction :: FunPtr CPostFunction -> CPostFunction
