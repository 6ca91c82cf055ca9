{-# LANGUAGE CPP #-}

-- | The program of CompatProgram.inc by "Capstan.Event.Compat".
module CompatByCapstan (tests) where

import Capstan.Event.Compat
import Control.Concurrent (myThreadId)
import Control.Concurrent.MVar (isEmptyMVar, newEmptyMVar, putMVar, takeMVar)
import Control.Exception (mask_, onException)
import Control.Monad (forM, forM_)
import Data.IORef (modifyIORef, newIORef, readIORef, writeIORef)
import Support
import qualified System.Posix.IO as Posix
import System.Posix.Types (Fd)
import System.Timeout (timeout)
import Test.Tasty (TestTree)
import Test.Tasty.HUnit

#include "CompatProgram.inc"
