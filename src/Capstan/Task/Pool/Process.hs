-- |
-- Module      : Capstan.Task.Pool.Process
-- Description : Which process the workers of a pool are in
--
-- The child of a @forkProcess@ has one thread, and a copy of what the others worked on. So a pool there
-- begins anew, before the child's first use of it. No later push can be before that: each thread of the child is new, and a
-- deque refuses the first push of a thread that it does not know ("Capstan.Task.Work.Deque"), so the pool is asked.
module Capstan.Task.Pool.Process
  ( Process,
    newProcess,
    inProcess,
  )
where

import Control.Concurrent (yield)
import Control.Exception (uninterruptibleMask_)
import Data.IORef
import Foreign.C.Types (CUInt (..))
import GHC.IO (noDuplicate)

foreign import ccall unsafe "cst_haskell_forks"
  forks :: IO CUInt

-- | Processes by the number of forks that they came out of.
newtype Process = Process (IORef Stage)

data Stage
  = -- | Made or begun anew in that process.
    Settled !CUInt
  | -- | A thread of that process is at it.
    Settling !CUInt
  deriving (Eq)

-- | The current process.
newProcess :: IO Process
newProcess = forks >>= fmap Process . newIORef . Settled

-- | Begins anew by that action, if this is another process, and by one thread. Others wait.
inProcess :: Process -> IO () -> IO ()
inProcess process@(Process stage) anew = do
  now <- forks
  seen <- readIORef stage
  if seen == Settled now
    then pure ()
    else do
      -- All of it is done, also where a value is evaluated.
      noDuplicate
      uninterruptibleMask_ $ do
        mine <- atomicModifyIORef' stage $ \known ->
          if known `elem` [Settled now, Settling now] then (known, False) else (Settling now, True)
        if mine then anew >> atomicWriteIORef stage (Settled now) else yield
      inProcess process anew
