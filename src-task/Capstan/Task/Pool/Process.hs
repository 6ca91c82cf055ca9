-- |
-- Module      : Capstan.Task.Pool.Process
-- Description : The process to which the workers of a pool belong
--
-- The child of a @forkProcess@ has one thread, and a copy of the data of the parent's other
-- threads. So a pool begins anew in the child, before the child's first use of it. No push can come
-- earlier. Each thread of the child is new, and a deque refuses the first push of a thread that it
-- does not know ("Capstan.Task.Work.Deque"). The refused push calls the pool, which begins anew.
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

-- | The state of a pool with respect to processes, which are identified by their number of forks.
newtype Process = Process (IORef Stage)

data Stage
  = -- | The pool was made in that process, or has begun anew there.
    Settled !CUInt
  | -- | A thread of that process lets the pool begin anew.
    Settling !CUInt
  deriving (Eq)

-- | The current process.
newProcess :: IO Process
newProcess = forks >>= fmap Process . newIORef . Settled

-- | Runs the action that begins anew, if this is another process. One thread runs it, and other
-- threads wait.
inProcess :: Process -> IO () -> IO ()
inProcess process@(Process stage) anew = do
  now <- forks
  seen <- readIORef stage
  if seen == Settled now
    then pure ()
    else do
      -- These steps must be completed, even if the thread evaluates a value.
      noDuplicate
      uninterruptibleMask_ $ do
        mine <- atomicModifyIORef' stage $ \known ->
          if known `elem` [Settled now, Settling now] then (known, False) else (Settling now, True)
        if mine then anew >> atomicWriteIORef stage (Settled now) else yield
      inProcess process anew
