{-# LANGUAGE ForeignFunctionInterface #-}
-- GHC's bytecode interpreter does not support foreign exports.
{-# OPTIONS_GHC -fobject-code #-}

-- |
-- Module      : Capstan.Internal.Worker
-- Description : The Haskell side of a worker thread
--
-- A worker of the @rts@ substrate (@runtime\/substrate\/rts\/worker.c@) becomes a bound Haskell
-- thread when it runs this module's action. The action makes one safe foreign call, so the
-- Capability is free while the worker is in C.
module Capstan.Internal.Worker
  ( workerAction,
  )
where

import Foreign.Ptr (Ptr)
import Foreign.StablePtr (StablePtr, newStablePtr)

data Worker

foreign import ccall safe "cst_rts_worker_enter"
  enter :: Ptr Worker -> IO ()

foreign export ccall "cst_rts_worker_action"
  workerAction :: IO (StablePtr (Ptr Worker -> IO ()))

-- | The action that a worker runs, as a pointer for C.
workerAction :: IO (StablePtr (Ptr Worker -> IO ()))
workerAction = newStablePtr enter
